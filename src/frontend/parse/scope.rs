//! C's scopes and name spaces: which declaration does a name mean here?

use crate::frontend::names::Name;
use crate::ids::DeclId;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Ordinary,
    Tags,
}

/// One table per name space from name to the innermost declaration, with a log
/// that undoes a scope when it closes.
#[derive(Default)]
pub struct Scopes {
    tables: [Vec<Option<Entry>>; 2],
    log: Vec<(Space, Name, Option<Entry>)>,
    open: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Entry {
    decl: DeclId,
    depth: u32,
}

impl Scopes {
    pub fn depth(&self) -> u32 {
        self.open.len() as u32
    }

    pub fn push(&mut self) {
        self.open.push(self.log.len());
    }

    /// Closes scopes until `depth` are open.
    pub fn pop_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let mark = self.open.pop().unwrap_or(0);
            while self.log.len() > mark {
                if let Some((space, name, entry)) = self.log.pop() {
                    self.tables[space as usize][name.0 as usize] = entry;
                }
            }
        }
    }

    fn entry(&self, space: Space, name: Name) -> Option<Entry> {
        self.tables[space as usize].get(name.0 as usize).copied().flatten()
    }

    pub fn find(&self, space: Space, name: Name) -> Option<DeclId> {
        self.entry(space, name).map(|entry| entry.decl)
    }

    /// A declaration of this very scope.
    pub fn find_here(&self, space: Space, name: Name) -> Option<DeclId> {
        self.entry(space, name).filter(|entry| entry.depth == self.depth()).map(|entry| entry.decl)
    }

    pub fn bind(&mut self, space: Space, name: Name, decl: DeclId) {
        let depth = self.depth();
        let table = &mut self.tables[space as usize];
        if table.len() <= name.0 as usize {
            table.resize(name.0 as usize + 1, None);
        }
        let old = table[name.0 as usize].replace(Entry { decl, depth });
        if depth > 0 {
            self.log.push((space, name, old));
        }
    }
}
