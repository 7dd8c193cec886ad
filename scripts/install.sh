# To be read in by other scripts: finds out what is missing, and installs it.

missing=

# A command that must be there, and the Debian package that brings it.
need() {
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

# The same for a file.
need_file() {
    [ -f "$1" ] || missing="$missing $2"
}

install_missing() {
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "$0: please install:$missing" >&2
        exit 2
    fi
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    echo "$0: installing$missing" >&2
    $sudo apt-get update -q >&2
    # shellcheck disable=SC2086 # the list is meant to be split
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
    missing=
}
