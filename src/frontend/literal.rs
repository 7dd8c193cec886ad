//! Integer literals.

/// The value of an integer literal of C, or `None` if it is not one or does not
/// fit 63 bits.
pub fn integer(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.to_ascii_lowercase();
    let digits = text.trim_end_matches(['u', 'l']);
    let (radix, digits) = if let Some(rest) = digits.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = digits.strip_prefix("0b") {
        (2, rest)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    i64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with(['+', '-']))
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[test]
    fn reads_every_radix_and_suffix() {
        assert_eq!(integer(b"0"), Some(0));
        assert_eq!(integer(b"42UL"), Some(42));
        assert_eq!(integer(b"0x1fu"), Some(31));
        assert_eq!(integer(b"017"), Some(15));
        assert_eq!(integer(b"0b101"), Some(5));
        assert_eq!(integer(b"1.5"), None);
        assert_eq!(integer(b"08"), None);
        assert_eq!(integer(b"99999999999999999999"), None);
    }
}
