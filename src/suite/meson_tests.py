# Run by `meson runpython` in a build directory: prints the tests as Meson itself
# would run them. `meson introspect --tests` knows neither which tests should
# fail nor how variables are changed, nor the default setup.
import argparse
import json
import os
import sys

from mesonbuild import coredata, mtest

# Stands for what a variable has already.
MARK = '\x01edgewise\x01'


def main():
    parser = argparse.ArgumentParser()
    mtest.add_arguments(parser)
    options = parser.parse_args(['-C', os.getcwd(), '--no-rebuild'])
    # One at a time would make every test one that runs alone.
    options.num_processes = 2
    harness = mtest.TestHarness(options)
    harness.load_metadata()
    # Without tests Meson says so on stdout.
    tests = harness.get_tests() if harness.tests else []
    found = [describe(harness, test) for test in tests]
    json.dump({'version': coredata.version, 'tests': found}, sys.stdout)


def describe(harness, test):
    changed = names(test.env)
    setup = harness.get_test_setup(test) if harness.options.setup else None
    if setup:
        changed |= names(setup.env)
    if test.extra_paths:
        changed.add('PATH')
    before = {name: value for name, value in os.environ.items() if name not in changed}
    real = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(before)
        os.environ.update({name: MARK for name in changed})
        # In newer versions a variable that is already there is not touched.
        runner = harness.get_test_runner(test)
        environment = dict(runner.runobj.env)
    finally:
        os.environ.clear()
        os.environ.update(real)
    # Meson takes another number for each run, and tests should not differ.
    if 'MALLOC_PERTURB_' not in changed and 'MALLOC_PERTURB_' not in before:
        environment.pop('MALLOC_PERTURB_', None)
    variables = {
        name: environment.get(name)
        for name in sorted(set(environment) | changed)
        if environment.get(name) != before.get(name, None if name not in changed else MARK)
    }
    command = None if runner.cmd is None else list(runner.cmd) + list(test.cmd_args)
    return {
        'name': test.name,
        'project': test.project_name,
        'suites': list(test.suite),
        'command': command,
        'variables': variables,
        'should_fail': bool(test.should_fail),
        'timeout': runner.timeout,
        'workdir': test.workdir,
        'is_parallel': bool(test.is_parallel),
        'protocol': str(test.protocol),
    }


def names(environment):
    unset = getattr(environment, 'unset_vars', ())
    return {entry[1] for entry in environment.envvars} | set(unset)


main()
