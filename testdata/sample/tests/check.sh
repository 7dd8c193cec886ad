# check.sh NAME COMMAND...: runs the command and compares its output and exit
# status with tests/expected/NAME. With UPDATE=1 it writes that file instead.
name=$1
shift
actual=$("$@" 2>&1; echo "exit $?")
if [ -n "$UPDATE" ]; then
    printf '%s\n' "$actual" > "tests/expected/$name"
elif [ "$actual" != "$(cat "tests/expected/$name")" ]; then
    printf 'expected:\n%s\nactual:\n%s\n' "$(cat "tests/expected/$name")" "$actual"
    exit 1
fi
