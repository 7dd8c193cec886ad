//! What literals stand for.

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

/// A character by its number at the start of a text, `\u00e9` or `\U000000e9`, and
/// how many bytes that takes.
pub fn numbered(text: &[u8]) -> Option<(char, usize)> {
    let digits = match text {
        [b'\\', b'u', ..] => 4,
        [b'\\', b'U', ..] => 8,
        _ => return None,
    };
    let digits = std::str::from_utf8(text.get(2..2 + digits)?).ok()?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_number)?;
    Some((char::from_u32(number)?, 2 + digits.len()))
}

/// A word with its characters themselves in the place of their numbers.
pub fn spelled_out(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((byte, behind)) = rest.split_first() {
        if let Some((character, length)) = numbered(rest) {
            out.extend(character.encode_utf8(&mut [0; 4]).bytes());
            rest = &rest[length..];
        } else {
            out.push(*byte);
            rest = behind;
        }
    }
    out
}

/// Appends what a string literal stands for. Control characters become ends of lines.
pub fn add_text(literal: &str, out: &mut String) {
    let (prefix, inside) = literal.split_once('"').unwrap_or(("", literal));
    let inside = inside.strip_suffix('"').unwrap_or(inside);
    if prefix.ends_with('R') {
        let text = inside.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
        out.push_str(text.map_or("", |(text, _)| text));
        return;
    }
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(kind) = rest.chars().next() else { return };
        let (radix, skipped, most) = match kind {
            '0'..='7' => (8, 0, 3),
            'x' => (16, 1, usize::MAX),
            'u' => (16, 1, 4),
            'U' => (16, 1, 8),
            _ => {
                match kind {
                    't' => out.push('\t'),
                    'n' | 'r' | 'f' | 'v' | 'a' | 'b' | 'e' => out.push('\n'),
                    other => out.push(other),
                }
                rest = &rest[kind.len_utf8()..];
                continue;
            }
        };
        let digits = rest[skipped..].chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let number = u32::from_str_radix(&rest[skipped..skipped + digits], radix).ok();
        out.push(number.and_then(char::from_u32).unwrap_or('\n'));
        rest = &rest[skipped + digits..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::{add_text, integer};

    #[test]
    fn strings_stand_for_their_characters() {
        let text = |literal: &str| {
            let mut out = String::new();
            add_text(literal, &mut out);
            out
        };
        assert_eq!(text(r#""nop\n\t.long 1\012f:""#), "nop\n\t.long 1\nf:");
        assert_eq!(text(r#"L"\x73tep\"\\""#), "step\"\\");
        assert_eq!(text(r#"u8R"x(a\n(b))x""#), "a\\n(b)");
        assert_eq!(text(r#""\u00e9\xffffffffff\""#), "é\n");
    }

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
