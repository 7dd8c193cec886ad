# To be read in by other scripts: fetches the sources of Debian packages, and
# installs what is needed to build them.

. scripts/install.sh

# Fetches a source package into src, with the registry that this machine is
# set up for; with a second word, as another release of the distribution has it. A
# private copy of the configuration, in $apt, asks for sources as well.
apt_source() {
    private_lists "${2-}"
    # The newest version may be announced and not there yet.
    for version in '' $(source_versions "$1"); do
        rm -rf fetched
        mkdir fetched
        ! (cd fetched && private_apt source -q "$1$version") || break
    done
    for directory in fetched/*/; do mv "$directory" src; done
    rm -r fetched
    # All files of one age: patches must not make make run autoconf again.
    find src -exec touch -h -r src {} +
}

# The archives of a source package, as they are, into this directory.
apt_download() {
    private_lists ''
    for version in '' $(source_versions "$1"); do
        ! private_apt source -q --download-only "$1$version" || break
    done
}

source_versions() { private_apt_cache madison "$1" | awk '$NF == "Sources" { print "=" $3 }' | uniq; }

# Makes the private configuration, for another release if one is named.
private_lists() {
    lists=$apt${1:+/$1}
    [ ! -e "$lists/ready" ] || return 0
    rm -rf "$lists"
    mkdir -p "$lists/parts" "$lists/state/lists/partial" "$lists/cache/archives/partial"
    : >"$lists/list"
    [ ! -e /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$lists/list"
    for file in /etc/apt/sources.list.d/*.list; do
        [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"$lists/parts/${file##*/}"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$lists/parts/${file##*/}"
    done
    [ -z "$1" ] || of_release "$1"
    private_apt update -q
    touch "$lists/ready"
}

# Of the lists, what names the release that is installed names another one; what comes
# beside a release (updates, security) is left out.
of_release() {
    own=$(. /etc/os-release && echo "$VERSION_CODENAME")
    for file in "$lists/list" "$lists"/parts/*.list; do
        [ ! -e "$file" ] || sed -i -n "s/ $own / $1 /p" "$file"
    done
    for file in "$lists"/parts/*.sources; do
        [ -e "$file" ] || continue
        awk -v own="$own" -v other="$1" '
            BEGIN { RS = ""; FS = "\n" }
            $0 ~ "(^|\n)Suites:([^\n]* )?" own "( |\n|$)" {
                for (i = 1; i <= NF; i++) print ($i ~ /^Suites:/) ? "Suites: " other : $i
                print ""
            }' "$file" >"$file.new"
        mv "$file.new" "$file"
    done
}

private_apt() { with_private_lists apt-get "$@"; }
private_apt_cache() { with_private_lists apt-cache "$@"; }
with_private_lists() {
    command=$1
    shift
    "$command" -o Dir::State="$lists/state" -o Dir::Cache="$lists/cache" -o Dir::Etc::sourcelist="$lists/list" \
        -o Dir::Etc::sourceparts="$lists/parts" -o APT::Sandbox::User=root "$@"
}

# Installs those of the packages that are not there.
install_packages() {
    missing=
    for wanted in "$@"; do
        dpkg-query -W -f '${Status}' "$wanted" 2>/dev/null | grep -q ' installed$' || missing="$missing $wanted"
    done
    install_missing
}
