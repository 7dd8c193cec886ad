//! The history file. Blobs are only ever appended; a commit appends a manifest
//! and then switches one of two slots at the start of the file to it, so that
//! the file is at any moment what the last finished commit made of it.
//!
//! ```text
//! slot 0 (4096) | slot 1 (4096) | blobs, manifests, … | whatever a kill left
//! slot: magic "EDGWHIST" | version u32 | 0 u32 | generation u64
//!       manifest offset u64 | manifest length u64 | its check 16 | check of the slot 16
//! ```
//!
//! Bytes behind the manifest of the newest slot belong to nobody. Everything
//! before is covered by checks: a difference there is damage, and is reported
//! as such, never repaired by guessing.

use super::format::{BlobAt, BlobKind, Manifest, VERSION};
use crate::ids::Fingerprint;
use rustc_hash::FxHashMap;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"EDGWHIST";
const SLOT: u64 = 4096;
const SLOT_USED: usize = 72;
/// A file that is this many times what it holds is written anew.
const WASTE: u64 = 3;
const SMALL: u64 = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{path}: history of format {found}, this edgewise reads format {VERSION}")]
    Version { path: String, found: u32 },
    #[error("{path}: the history is damaged ({what})")]
    Damaged { path: String, what: &'static str },
    #[error("{path}: {source}")]
    Io { path: String, source: std::io::Error },
}

/// An open history file, or one that is not there yet.
pub struct Store {
    path: PathBuf,
    file: Option<fs_err::File>,
    generation: u64,
    end: u64,
    pub manifest: Manifest,
    /// Blobs that are not in the file yet.
    fresh: FxHashMap<(BlobKind, Fingerprint), Vec<u8>>,
}

impl Store {
    /// Opens the history; an absent file is an empty history.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut store = Self {
            path: path.to_path_buf(),
            file: None,
            generation: 0,
            end: 2 * SLOT,
            manifest: Manifest::default(),
            fresh: FxHashMap::default(),
        };
        let file = match fs_err::OpenOptions::new().read(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(store),
            Err(source) => return Err(store.io(source)),
        };
        store.load(&file)?;
        store.file = Some(file);
        Ok(store)
    }

    pub fn is_empty(&self) -> bool {
        self.manifest.tests.is_empty()
    }

    fn io(&self, source: std::io::Error) -> StoreError {
        StoreError::Io { path: self.path.display().to_string(), source }
    }

    pub(super) fn damaged(&self, what: &'static str) -> StoreError {
        StoreError::Damaged { path: self.path.display().to_string(), what }
    }

    fn load(&mut self, file: &fs_err::File) -> Result<(), StoreError> {
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
        let slot = newest.ok_or_else(|| self.damaged("no valid start"))?;
        let bytes = self.read_checked(file, slot.manifest)?;
        let plain = zstd::stream::decode_all(&*bytes).map_err(|_| self.damaged("contents"))?;
        self.manifest = postcard::from_bytes(&plain).map_err(|_| self.damaged("contents"))?;
        self.generation = slot.generation;
        self.end = slot.manifest.offset + slot.manifest.length;
        Ok(())
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

    fn read_checked(&self, file: &fs_err::File, at: BlobAt) -> Result<Vec<u8>, StoreError> {
        let size = file.metadata().map_err(|e| self.io(e))?.len();
        if at.offset.checked_add(at.length).is_none_or(|end| end > size) {
            return Err(self.damaged("cut off"));
        }
        let mut bytes = vec![0; at.length as usize];
        file.file().read_exact_at(&mut bytes, at.offset).map_err(|e| self.io(e))?;
        if Fingerprint::of(&bytes) == at.check { Ok(bytes) } else { Err(self.damaged("contents")) }
    }

    /// The bytes of a blob.
    pub fn blob(&self, kind: BlobKind, id: Fingerprint) -> Result<Vec<u8>, StoreError> {
        if let Some(bytes) = self.fresh.get(&(kind, id)) {
            return Ok(bytes.clone());
        }
        let at = self
            .manifest
            .blobs
            .get(&(kind, id))
            .ok_or_else(|| self.damaged("a part is missing"))?;
        let file = self.file.as_ref().ok_or_else(|| self.damaged("a part is missing"))?;
        let bytes = self.read_checked(file, *at)?;
        zstd::stream::decode_all(&*bytes).map_err(|_| self.damaged("contents"))
    }

    pub fn has(&self, kind: BlobKind, id: Fingerprint) -> bool {
        self.fresh.contains_key(&(kind, id)) || self.manifest.blobs.contains_key(&(kind, id))
    }

    /// Adds a blob, to be written by the next commit.
    pub fn put(&mut self, kind: BlobKind, id: Fingerprint, bytes: &[u8]) {
        if !self.has(kind, id) {
            self.fresh.insert((kind, id), bytes.to_vec());
        }
    }

    /// Makes everything so far permanent. Blobs not in `live` are forgotten.
    pub fn commit(
        &mut self,
        live: &std::collections::BTreeSet<(BlobKind, Fingerprint)>,
    ) -> Result<(), StoreError> {
        self.manifest.blobs.retain(|id, _| live.contains(id));
        self.fresh.retain(|id, _| live.contains(id));
        let kept: u64 = self.manifest.blobs.values().map(|at| at.length).sum();
        let is_wasteful = self.end > SMALL && self.end > WASTE * (kept + 2 * SLOT);
        if self.file.is_none() || is_wasteful {
            return self.write_anew();
        }
        let file =
            fs_err::OpenOptions::new().write(true).open(&self.path).map_err(|e| self.io(e))?;
        self.append(&file)
    }

    /// Appends what is fresh and the manifest, then switches a slot to it.
    fn append(&mut self, file: &fs_err::File) -> Result<(), StoreError> {
        let mut out = Vec::new();
        let mut fresh: Vec<_> = self.fresh.drain().collect();
        fresh.sort_by_key(|(id, _)| *id);
        for (id, plain) in fresh {
            let bytes = compress(&plain);
            let at = BlobAt {
                offset: self.end + out.len() as u64,
                length: bytes.len() as u64,
                check: Fingerprint::of(&bytes),
            };
            out.extend(bytes);
            self.manifest.blobs.insert(id, at);
        }
        let manifest = postcard::to_stdvec(&self.manifest).expect("plain data always serialises");
        let manifest = compress(&manifest);
        let at = BlobAt {
            offset: self.end + out.len() as u64,
            length: manifest.len() as u64,
            check: Fingerprint::of(&manifest),
        };
        out.extend(manifest);
        file.file().write_all_at(&out, self.end).map_err(|e| self.io(e))?;
        file.sync_data().map_err(|e| self.io(e))?;
        let slot = Slot { generation: self.generation + 1, manifest: at };
        let place = (slot.generation % 2) * SLOT;
        file.file().write_all_at(&slot.encode(), place).map_err(|e| self.io(e))?;
        file.sync_data().map_err(|e| self.io(e))?;
        self.generation += 1;
        self.end += out.len() as u64;
        self.file = Some(fs_err::File::open(&self.path).map_err(|e| self.io(e))?);
        Ok(())
    }

    /// Writes the whole history into a new file beside the old one, and puts
    /// it in its place.
    fn write_anew(&mut self) -> Result<(), StoreError> {
        let ids: Vec<_> = self.manifest.blobs.keys().copied().collect();
        for (kind, id) in ids {
            let bytes = self.blob(kind, id)?;
            self.fresh.insert((kind, id), bytes);
        }
        self.manifest.blobs.clear();
        let directory = self.path.parent().unwrap_or(Path::new("."));
        fs_err::create_dir_all(directory).map_err(|e| self.io(e))?;
        let mut new = tempfile::Builder::new()
            .prefix("history.")
            .tempfile_in(directory)
            .map_err(|e| self.io(e))?;
        new.write_all(&vec![0; 2 * SLOT as usize]).map_err(|e| self.io(e))?;
        let path = std::mem::replace(&mut self.path, new.path().to_path_buf());
        self.end = 2 * SLOT;
        let file = fs_err::OpenOptions::new().write(true).open(&self.path);
        let result = file.map_err(|e| self.io(e)).and_then(|file| self.append(&file));
        self.path = path;
        result?;
        new.persist(&self.path).map_err(|e| self.io(e.error))?;
        self.file = Some(fs_err::File::open(&self.path).map_err(|e| self.io(e))?);
        Ok(())
    }
}

fn compress(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, 3).expect("compressing into memory")
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
