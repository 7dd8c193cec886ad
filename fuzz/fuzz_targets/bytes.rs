//! Any bytes at all.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    edgewise_fuzz::check(text);
});
