//! What a test printed: all of it, or where it is too much its start and end.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// As much as is kept of the start, and of the end.
const PART: u64 = 8 << 20;
const LEFT_OUT: &[u8] = b"\n[edgewise: left out here]\n";

/// So much is looked at where what was printed decides.
const WHOLE: u64 = 256 << 20;

/// All that a test printed; none if it is more than can be looked at.
pub fn read_whole(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    fs_err::File::open(path)?.take(WHOLE + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= WHOLE).then_some(bytes))
}

/// Reads what a test printed. A process that is left over may still write.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = fs_err::File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= 2 * PART {
        file.take(2 * PART).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    file.by_ref().take(PART).read_to_end(&mut bytes)?;
    bytes.extend(LEFT_OUT);
    file.seek(SeekFrom::Start(length - PART))?;
    file.take(PART).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_much_the_start_and_the_end_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        let mut text = vec![b'a'; 3 * PART as usize];
        text[0] = b'<';
        *text.last_mut().unwrap() = b'>';
        std::fs::write(&path, &text).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(read.len(), 2 * PART as usize + LEFT_OUT.len());
        assert_eq!((read[0], *read.last().unwrap()), (b'<', b'>'));
    }
}
