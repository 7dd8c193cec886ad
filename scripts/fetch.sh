# To be read in by other scripts: fetches the sources of Debian packages, and
# installs what is needed to build them.

. scripts/install.sh

# Fetches a source package into src, with the registry that this machine is
# set up for. A private copy of its configuration, in $apt, asks for sources as
# well.
apt_source() {
    if [ ! -e "$apt/ready" ]; then
        rm -rf "$apt"
        mkdir -p "$apt/parts" "$apt/state/lists/partial" "$apt/cache/archives/partial"
        : >"$apt/list"
        [ ! -e /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/list"
        for file in /etc/apt/sources.list.d/*.list; do
            [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"$apt/parts/${file##*/}"
        done
        for file in /etc/apt/sources.list.d/*.sources; do
            [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/${file##*/}"
        done
        private_apt update -q
        touch "$apt/ready"
    fi
    # The newest version may be announced and not there yet.
    versions=$(private_apt_cache madison "$1" | awk '$NF == "Sources" { print "=" $3 }' | uniq)
    for version in '' $versions; do
        rm -rf fetched
        mkdir fetched
        ! (cd fetched && private_apt source -q "$1$version") || break
    done
    for directory in fetched/*/; do mv "$directory" src; done
    rm -r fetched
    # All files of one age: patches must not make make run autoconf again.
    find src -exec touch -h -r src {} +
}

private_apt() { with_private_lists apt-get "$@"; }
private_apt_cache() { with_private_lists apt-cache "$@"; }
with_private_lists() {
    command=$1
    shift
    "$command" -o Dir::State="$apt/state" -o Dir::Cache="$apt/cache" -o Dir::Etc::sourcelist="$apt/list" \
        -o Dir::Etc::sourceparts="$apt/parts" -o APT::Sandbox::User=root "$@"
}

# Installs those of the packages that are not there.
install_packages() {
    missing=
    for wanted in "$@"; do
        dpkg-query -W -f '${Status}' "$wanted" 2>/dev/null | grep -q ' installed$' || missing="$missing $wanted"
    done
    install_missing
}
