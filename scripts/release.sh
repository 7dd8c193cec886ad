# To be read in by other scripts: builds edgewise as it is released, and runs its benchmarks.
#
# With EDGEWISE_PROFILE=dev both are what the tests are made of, so that nothing is compiled twice: for short
# forms, whose times nobody looks at.
case ${EDGEWISE_PROFILE-} in
dev) made=target/debug profile=dev ;;
*) made=target/release profile=bench ;;
esac

# Together with a benchmark: these have dependencies of their own, and if both are not asked for at once,
# the library is compiled for each of them.
build_release() {
    cargo build --locked --quiet --profile "${EDGEWISE_PROFILE:-release}" --bins --bench scale
}

# The benchmark that is the first word, with the words behind it.
benchmark() {
    cargo bench --locked --quiet --profile "$profile" --bench "$@"
}
