//! The history file. Everything is only ever appended; a commit appends what is
//! new and a manifest, and then switches one of two slots at the start of the
//! file to it, so that the file is at any moment what the last finished commit
//! made of it.
//!
//! ```text
//! slot 0 (4096) | slot 1 (4096) | parts, manifests, … | whatever a kill left
//! slot: magic "EDGWHIST" | version u32 | 0 u32 | generation u64
//!       manifest offset u64 | manifest length u64 | its check 16 | check of the slot 16
//! ```
//!
//! Bytes behind the manifest of the newest slot belong to nobody. Everything
//! before is covered by checks: a difference there is damage, and is reported
//! as such, never repaired by guessing.

use super::format::{BlobAt, Manifest, VERSION};
use crate::cfg::format::decompress_bounded;
use crate::ids::Fingerprint;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"EDGWHIST";
const SLOT: u64 = 4096;
const SLOT_USED: usize = 72;
/// What is appended is gathered up to this many bytes before it is written.
const GATHERED: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{path}: history of format {found}, this edgewise reads format {VERSION}")]
    Version { path: String, found: u32 },
    #[error("{path}: the history is damaged ({what})")]
    Damaged { path: String, what: &'static str },
    #[error("{path}: {why}")]
    Io { path: String, why: std::io::Error },
}

/// An open history file, or one that is not there yet.
pub struct Store {
    path: PathBuf,
    file: Option<fs_err::File>,
    generation: u64,
    /// Where the newest manifest ends.
    end: u64,
    pub manifest: Manifest,
}

impl Store {
    /// Opens the history; an absent file is an empty history.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut store = Self::replacing(path);
        let file = match fs_err::OpenOptions::new().read(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(store),
            Err(source) => return Err(store.io(source)),
        };
        let slot = store.newest_slot(&file)?;
        store.file = Some(file);
        store.manifest = store.read_value(slot.manifest)?;
        store.generation = slot.generation;
        store.end = slot.manifest.offset + slot.manifest.length;
        Ok(store)
    }

    /// A history that takes the place of whatever is there.
    pub fn replacing(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            file: None,
            generation: 0,
            end: 2 * SLOT,
            manifest: Manifest::default(),
        }
    }

    /// Bytes of the file that commits have written.
    pub fn size(&self) -> u64 {
        self.end
    }

    /// Whether this file is the other one, perhaps with more behind it.
    pub fn continues(&self, other: &Self) -> Result<bool, StoreError> {
        let (Some(own), Some(others)) = (&self.file, &other.file) else {
            return Ok(other.file.is_none());
        };
        if self.end < other.end {
            return Ok(false);
        }
        let mut at = 2 * SLOT;
        let (mut here, mut there) = (vec![0; GATHERED], vec![0; GATHERED]);
        while at < other.end {
            let length = (other.end - at).min(GATHERED as u64) as usize;
            own.file().read_exact_at(&mut here[..length], at).map_err(|e| self.io(e))?;
            others.file().read_exact_at(&mut there[..length], at).map_err(|e| other.io(e))?;
            if here[..length] != there[..length] {
                return Ok(false);
            }
            at += length as u64;
        }
        Ok(true)
    }

    fn io(&self, why: std::io::Error) -> StoreError {
        StoreError::Io { path: self.path.display().to_string(), why }
    }

    pub(super) fn damaged(&self, what: &'static str) -> StoreError {
        StoreError::Damaged { path: self.path.display().to_string(), what }
    }

    fn newest_slot(&self, file: &fs_err::File) -> Result<Slot, StoreError> {
        let mut slots = vec![0; 2 * SLOT as usize];
        file.file()
            .read_exact_at(&mut slots, 0)
            .map_err(|_| self.damaged("too short for a history"))?;
        let mut newest: Option<Slot> = None;
        for slot in slots.chunks(SLOT as usize) {
            if let Some(slot) = self.slot(slot)?
                && newest.as_ref().is_none_or(|newest| newest.generation < slot.generation)
            {
                newest = Some(slot);
            }
        }
        newest.ok_or_else(|| self.damaged("no valid start"))
    }

    /// A slot that was written completely.
    fn slot(&self, bytes: &[u8]) -> Result<Option<Slot>, StoreError> {
        if &bytes[..8] != MAGIC {
            return Ok(None);
        }
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(number)
        };
        let version = number(8) as u32;
        if version != VERSION {
            let path = self.path.display().to_string();
            return Err(StoreError::Version { path, found: version });
        }
        if Fingerprint::of(&bytes[..SLOT_USED - 16]).0 != bytes[SLOT_USED - 16..SLOT_USED] {
            return Ok(None);
        }
        let mut check = [0; 16];
        check.copy_from_slice(&bytes[40..56]);
        let manifest = BlobAt { offset: number(24), length: number(32), check: Fingerprint(check) };
        Ok(Some(Slot { generation: number(16), manifest }))
    }

    /// The bytes at a place as they are in the file.
    fn read_packed(&self, at: BlobAt) -> Result<Vec<u8>, StoreError> {
        let file = self.file.as_ref().ok_or_else(|| self.damaged("a part is missing"))?;
        let size = file.metadata().map_err(|e| self.io(e))?.len();
        if at.offset.checked_add(at.length).is_none_or(|end| end > size) {
            return Err(self.damaged("cut off"));
        }
        let mut bytes = vec![0; at.length as usize];
        file.file().read_exact_at(&mut bytes, at.offset).map_err(|e| self.io(e))?;
        if Fingerprint::of(&bytes) == at.check { Ok(bytes) } else { Err(self.damaged("contents")) }
    }

    /// Whether what was appended at a place is still what it was.
    pub fn verify(&self, at: BlobAt) -> Result<(), StoreError> {
        self.read_packed(at).map(|_| ())
    }

    /// What was appended at a place.
    pub fn read(&self, at: BlobAt) -> Result<Vec<u8>, StoreError> {
        let packed = self.read_packed(at)?;
        decompress_bounded(&packed).ok_or_else(|| self.damaged("contents"))
    }

    pub fn read_value<T: DeserializeOwned>(&self, at: BlobAt) -> Result<T, StoreError> {
        postcard::from_bytes(&self.read(at)?).map_err(|_| self.damaged("contents"))
    }

    /// Begins a commit: behind what is there, or in a new file that then takes
    /// the place of this one.
    pub fn begin(&self, anew: bool) -> Result<Appender, StoreError> {
        let packer = zstd::bulk::Compressor::new(3).map_err(|e| self.io(e))?;
        if self.file.is_some() && !anew {
            let file = fs_err::OpenOptions::new().write(true).open(&self.path);
            let file = file.map_err(|e| self.io(e))?;
            return Ok(Appender { file, new: None, end: self.end, gathered: Vec::new(), packer });
        }
        let directory = self.path.parent().unwrap_or(Path::new("."));
        fs_err::create_dir_all(directory).map_err(|e| self.io(e))?;
        let new = tempfile::Builder::new().prefix("history.").tempfile_in(directory);
        let new = new.map_err(|e| self.io(e))?;
        let file = fs_err::OpenOptions::new().write(true).open(new.path());
        let file = file.map_err(|e| self.io(e))?;
        file.set_len(2 * SLOT).map_err(|e| self.io(e))?;
        Ok(Appender { file, new: Some(new), end: 2 * SLOT, gathered: Vec::new(), packer })
    }

    /// Ends a commit: from now on the file is what the manifest says.
    pub fn end(&mut self, mut out: Appender, manifest: Manifest) -> Result<(), StoreError> {
        let at = out.put_value(&manifest).map_err(|e| self.io(e))?;
        out.flush().map_err(|e| self.io(e))?;
        out.file.sync_data().map_err(|e| self.io(e))?;
        let generation = if out.new.is_some() { 1 } else { self.generation + 1 };
        let slot = Slot { generation, manifest: at };
        let place = (generation % 2) * SLOT;
        out.file.file().write_all_at(&slot.encode(), place).map_err(|e| self.io(e))?;
        out.file.sync_data().map_err(|e| self.io(e))?;
        if let Some(new) = out.new {
            new.persist(&self.path).map_err(|e| self.io(e.error))?;
        }
        self.generation = generation;
        self.end = at.offset + at.length;
        self.manifest = manifest;
        self.file = Some(fs_err::File::open(&self.path).map_err(|e| self.io(e))?);
        Ok(())
    }

    /// Copies what was appended to one history into another.
    pub fn copy(&self, at: BlobAt, out: &mut Appender) -> Result<BlobAt, StoreError> {
        let packed = self.read_packed(at)?;
        out.put_packed(&packed, at.check).map_err(|e| self.io(e))
    }

    pub fn failed(&self, source: std::io::Error) -> StoreError {
        self.io(source)
    }
}

/// A commit that is under way. Dropped before its end it leaves nothing.
pub struct Appender {
    file: fs_err::File,
    new: Option<tempfile::NamedTempFile>,
    end: u64,
    gathered: Vec<u8>,
    packer: zstd::bulk::Compressor<'static>,
}

impl Appender {
    /// Appends bytes.
    pub fn put(&mut self, plain: &[u8]) -> std::io::Result<BlobAt> {
        let packed = self.packer.compress(plain)?;
        self.put_packed(&packed, Fingerprint::of(&packed))
    }

    pub fn put_value<T: Serialize>(&mut self, value: &T) -> std::io::Result<BlobAt> {
        self.put(&postcard::to_stdvec(value).expect("plain data always serialises"))
    }

    fn put_packed(&mut self, packed: &[u8], check: Fingerprint) -> std::io::Result<BlobAt> {
        let offset = self.end + self.gathered.len() as u64;
        self.gathered.extend_from_slice(packed);
        if self.gathered.len() > GATHERED {
            self.flush()?;
        }
        Ok(BlobAt { offset, length: packed.len() as u64, check })
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.file().write_all_at(&self.gathered, self.end)?;
        self.end += self.gathered.len() as u64;
        self.gathered.clear();
        Ok(())
    }
}

struct Slot {
    generation: u64,
    manifest: BlobAt,
}

impl Slot {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(SLOT_USED);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(0u32.to_le_bytes());
        out.extend(self.generation.to_le_bytes());
        out.extend(self.manifest.offset.to_le_bytes());
        out.extend(self.manifest.length.to_le_bytes());
        out.extend(self.manifest.check.0);
        let check = Fingerprint::of(&out);
        out.extend(check.0);
        out
    }
}
