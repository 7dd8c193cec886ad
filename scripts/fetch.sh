# To be read in by other scripts: fetches the sources of Debian packages, and
# installs what is needed to build them.

. scripts/install.sh

# Fetches a source package into src, with the registry that this machine is
# set up for; with a second word, as another release of the distribution has it. A
# private copy of the configuration, in $apt, asks for sources as well.
apt_source() {
    lists=$apt${2:+/$2}
    if [ ! -e "$lists/ready" ]; then
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
        [ -z "${2-}" ] || of_release "$2"
        private_apt update -q
        touch "$lists/ready"
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
