//! C with some of its tokens deleted, doubled, swapped or replaced.
#![no_main]

use edgewise_fuzz::{check, check_spaces, cross, mutate};
use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|text: &[u8]| {
    let found = check(text);
    check_spaces(text, &found);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    // Now and then plain bytes, for what happens inside of tokens.
    if seed.is_multiple_of(8) {
        return fuzzer_mutate(data, size, max_size);
    }
    put(data, &mutate(&data[..size], seed), max_size)
});

fuzz_crossover!(|data1: &[u8], data2: &[u8], out: &mut [u8], seed: u32| {
    let max_size = out.len();
    put(out, &cross(data1, data2, seed), max_size)
});

/// Writes as much of the text as there is room for; how much that is.
fn put(out: &mut [u8], text: &[u8], max_size: usize) -> usize {
    let size = text.len().min(max_size);
    out[..size].copy_from_slice(&text[..size]);
    size
}
