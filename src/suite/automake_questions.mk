
$(foreach name,TESTS TEST_LOGS XFAIL_TESTS SUBDIRS SHELL srcdir abs_srcdir abs_builddir,$(info edgewise: $(name) = $(strip $($(name)))))

.PHONY: edgewise-force edgewise-facts edgewise-logs edgewise-serial
edgewise-force:
edgewise-facts:
	@echo 'edgewise: environment'; env -0
edgewise-logs: $(TEST_LOGS)
edgewise-logs $(TEST_LOGS): edgewise-force
edgewise-serial: edgewise-force
	srcdir=$(srcdir); export srcdir; tst=@edgewise-test@; \
	if test -f ./$$tst; then dir=./; elif test -f $$tst; then dir=; else dir="$(srcdir)/"; fi; \
	$(TESTS_ENVIRONMENT) $${dir}$$tst $(AM_TESTS_FD_REDIRECT)
