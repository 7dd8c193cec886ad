//! The trace files that the runtime leaves. `instrument-runtime/edgewise_format.h`
//! is the definition; a test holds the two together.

use crate::bytes;
use crate::ids::Fingerprint;
use std::path::PathBuf;

pub const ENVIRONMENT: &str = "EDGEWISE_TRACE";
pub const TRACE_SUFFIX: &str = ".trace";
pub const PATH_SUFFIX: &str = ".path";
pub const LOADED_NAME: &str = "loaded";
pub const CASES_NAME: &str = "cases";
pub const UNCLEAN_PREFIX: &str = "unclean.";
/// The run of the first step of a log of nodes.
pub const START: u32 = u32::MAX;
pub const STEP_SIZE: usize = 16;
const MAGIC: &[u8; 8] = b"EDGWTRC1";
const VERSION: u32 = 3;
const HEADER_USED: usize = 128;
const UNIT_ENTRY_SIZE: usize = 32;
const BUILD_ID_MAX: usize = 32;

/// One trace file: what all processes of a test did in one module, within one
/// case of theirs or outside of any.
#[derive(Clone)]
pub struct TraceFile {
    /// The module as its processes saw it.
    pub module: PathBuf,
    pub build_id: Vec<u8>,
    /// The name of the case.
    pub case: Option<String>,
    /// For each unit, the bytes of its probes.
    pub units: Vec<(Fingerprint, Vec<u8>)>,
    /// How often a process mapped it; forked children do not count.
    pub processes: u32,
    /// Where these lie in the map.
    pub offsets: Vec<(usize, Fingerprint)>,
}

#[derive(Debug, thiserror::Error)]
#[error("unreadable trace: {0}")]
pub struct TraceError(&'static str);

impl TraceFile {
    pub fn parse(bytes: &[u8]) -> Result<Self, TraceError> {
        let header = bytes.get(..HEADER_USED).ok_or(TraceError("too short"))?;
        if &header[..8] != MAGIC {
            return Err(TraceError("not a trace"));
        }
        if u32_at(header, 8) != VERSION {
            return Err(TraceError("another version"));
        }
        let part = |offset: u64, length: u64| {
            let start = usize::try_from(offset).ok()?;
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            bytes.get(start..end)
        };
        let cut = TraceError("cut off");
        let map = part(u64_at(header, 24), u64_at(header, 32)).ok_or(TraceError("cut off"))?;
        let count = u64_at(header, 48);
        let table = count.checked_mul(UNIT_ENTRY_SIZE as u64);
        let table = table
            .and_then(|length| part(u64_at(header, 40), length))
            .ok_or(TraceError("cut off"))?;
        let path = part(u64_at(header, 56), u64_at(header, 64)).ok_or(cut)?;
        let id_length = u32_at(header, 72) as usize;
        if id_length > BUILD_ID_MAX {
            return Err(TraceError("bad build-id"));
        }
        let (mut units, mut offsets) = (Vec::new(), Vec::new());
        // Units do not share probes: together they have no more than the map.
        let mut left = map.len();
        for entry in table.chunks_exact(UNIT_ENTRY_SIZE) {
            let mut id = [0; 16];
            id.copy_from_slice(&entry[..16]);
            let start = usize::try_from(u64_at(entry, 16)).map_err(|_| TraceError("bad unit"))?;
            let count = usize::try_from(u64_at(entry, 24)).map_err(|_| TraceError("bad unit"))?;
            let probes = start
                .checked_add(count)
                .and_then(|end| map.get(start..end))
                .ok_or(TraceError("bad unit"))?;
            left = left.checked_sub(count).ok_or(TraceError("bad unit"))?;
            units.push((Fingerprint(id), probes.to_vec()));
            offsets.push((start, Fingerprint(id)));
        }
        let case = match u64_at(header, 112) {
            0 => None,
            offset => {
                let name = part(offset, u64_at(header, 120)).ok_or(TraceError("cut off"))?;
                Some(bytes::to_text(name).into_owned())
            }
        };
        use std::os::unix::ffi::OsStrExt;
        Ok(Self {
            module: PathBuf::from(std::ffi::OsStr::from_bytes(path)),
            build_id: header[80..80 + id_length].to_vec(),
            case,
            processes: u32_at(header, 76),
            units,
            offsets,
        })
    }
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::runtime;
    use crate::instrument::{MAP_SECTION, UNITS_SECTION};

    #[test]
    fn rust_and_the_runtime_agree() {
        let header = runtime::source("edgewise_format.h").expect("carried");
        for (name, value) in [
            ("EDGEWISE_ENVIRONMENT", format!("{ENVIRONMENT:?}")),
            ("EDGEWISE_MAP_SECTION", format!("{MAP_SECTION:?}")),
            ("EDGEWISE_UNITS_SECTION", format!("{UNITS_SECTION:?}")),
            ("EDGEWISE_TRACE_SUFFIX", format!("{TRACE_SUFFIX:?}")),
            ("EDGEWISE_PATH_SUFFIX", format!("{PATH_SUFFIX:?}")),
            ("EDGEWISE_START", START.to_string()),
            ("EDGEWISE_STEP_SIZE", STEP_SIZE.to_string()),
            ("EDGEWISE_LOADED_NAME", format!("{LOADED_NAME:?}")),
            ("EDGEWISE_CASES_NAME", format!("{CASES_NAME:?}")),
            ("EDGEWISE_UNCLEAN_PREFIX", format!("{UNCLEAN_PREFIX:?}")),
            ("EDGEWISE_MAGIC", format!("{:?}", String::from_utf8_lossy(MAGIC))),
            ("EDGEWISE_VERSION", VERSION.to_string()),
            ("EDGEWISE_HEADER_USED", HEADER_USED.to_string()),
            ("EDGEWISE_UNIT_ENTRY_SIZE", UNIT_ENTRY_SIZE.to_string()),
            ("EDGEWISE_BUILD_ID_MAX", BUILD_ID_MAX.to_string()),
        ] {
            assert!(header.contains(&format!("#define {name} {value}\n")), "{name} {value}");
        }
    }

    #[test]
    fn units_that_share_probes_are_refused() {
        let of = |units: &[(u64, u64)]| {
            let mut bytes = vec![0; HEADER_USED + 64];
            bytes[..8].copy_from_slice(MAGIC);
            bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
            let table = bytes.len() as u64;
            let header = [(24, 128), (32, 64), (40, table), (48, units.len() as u64)];
            for (at, value) in header {
                bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
            }
            for (start, count) in units {
                bytes.extend([0; 16]);
                bytes.extend(start.to_le_bytes());
                bytes.extend(count.to_le_bytes());
            }
            TraceFile::parse(&bytes).is_ok()
        };
        assert!(of(&[(0, 32), (32, 32)]));
        assert!(!of(&[(0, 64), (0, 64)]) && !of(&[(0, 65)]) && !of(&[(u64::MAX, 1)]));
    }

    #[test]
    fn rubbish_is_refused() {
        assert!(TraceFile::parse(b"").is_err());
        assert!(TraceFile::parse(&[0; 4096]).is_err());
        let mut wild = vec![0xff; 4096];
        wild[..8].copy_from_slice(MAGIC);
        wild[8..12].copy_from_slice(&VERSION.to_le_bytes());
        assert!(TraceFile::parse(&wild).is_err());
    }
}
