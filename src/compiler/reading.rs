//! Tells the library that notes which files a build reads who reads them to compile them.

/// For the processes that this one starts.
const VARIABLE: &str = "EDGEWISE_COMPILING";

/// What this process and those that it starts read from now on becomes part of a unit, and of
/// nothing else. To be called before there are threads.
pub fn say_compiling() {
    // SAFETY: there are no other threads yet.
    unsafe { std::env::set_var(VARIABLE, "1") };
    // SAFETY: the name is a string of C; the library, if it is there, has a function without
    // arguments under it.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"edgewise_files_compiling".as_ptr());
        if !found.is_null() {
            std::mem::transmute::<*mut libc::c_void, extern "C" fn()>(found)();
        }
    }
}

/// Whether ccache started this process.
pub fn is_asked_by_ccache() -> bool {
    let parent = std::os::unix::process::parent_id();
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm"));
    name.is_ok_and(|name| name.trim_end() == "ccache")
}
