# To be read in by other scripts: builds edgewise as it is released.

# Together with a benchmark: these have dependencies of their own, and if both are not asked for at once,
# the library is compiled for each of them.
build_release() {
    cargo build --locked --release --quiet --bins --bench scale
}
