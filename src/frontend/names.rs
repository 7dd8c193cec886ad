//! Interned identifiers. Keywords come first, so that a keyword test is one
//! comparison of numbers and the parser can match on constants.

use crate::bytes;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::LazyLock;

/// An identifier or keyword of one unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Name(pub u32);

/// Declares the keywords with their spellings. Alternative spellings of one
/// keyword share its name; labels use the original bytes, so nothing is lost.
macro_rules! keywords {
    ($($constant:ident: $($spelling:literal)|+;)*) => {
        /// Keyword constants.
        #[allow(non_upper_case_globals)]
        pub mod kw {
            use super::Name;
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Order { $($constant),*, COUNT }
            $(pub const $constant: Name = Name(Order::$constant as u32);)*
            pub(super) const COUNT: u32 = Order::COUNT as u32;
        }

        const SPELLINGS: &[(&str, Name)] = &[$($(($spelling, kw::$constant)),+),*];
    };
}

keywords! {
    AUTO: "auto";
    BREAK: "break";
    CASE: "case";
    CONST: "const" | "__const" | "__const__";
    CONTINUE: "continue";
    DEFAULT: "default";
    DO: "do";
    ELSE: "else";
    ENUM: "enum";
    EXTERN: "extern";
    FOR: "for";
    GOTO: "goto";
    IF: "if";
    INLINE: "inline" | "__inline" | "__inline__";
    REGISTER: "register";
    RESTRICT: "restrict" | "__restrict" | "__restrict__";
    RETURN: "return";
    SIZEOF: "sizeof";
    STATIC: "static";
    STRUCT: "struct";
    SWITCH: "switch";
    TYPEDEF: "typedef";
    UNION: "union";
    VOLATILE: "volatile" | "__volatile" | "__volatile__";
    WHILE: "while";
    ATTRIBUTE: "__attribute__" | "__attribute";
    ASM: "asm" | "__asm" | "__asm__";
    TYPEOF: "typeof" | "__typeof" | "__typeof__" | "__typeof_unqual__";
    AUTO_TYPE: "__auto_type";
    EXTENSION: "__extension__";
    ALIGNOF: "_Alignof" | "__alignof" | "__alignof__";
    ALIGNAS: "_Alignas";
    ATOMIC: "_Atomic";
    GENERIC: "_Generic";
    NORETURN: "_Noreturn";
    STATIC_ASSERT: "_Static_assert";
    THREAD: "_Thread_local" | "__thread";
    LABEL: "__label__";
    REAL_IMAG: "__real__" | "__real" | "__imag__" | "__imag";
    // Words that are types by themselves.
    TYPE_WORD: "void" | "char" | "short" | "int" | "long" | "float" | "double" | "signed"
        | "__signed" | "__signed__" | "unsigned" | "_Bool" | "_Complex" | "__complex__"
        | "__complex" | "_Imaginary" | "__int128" | "__int128_t" | "__uint128_t" | "__float128"
        | "__float80" | "__ibm128" | "_Float16" | "_Float32" | "_Float32x" | "_Float64"
        | "_Float64x" | "_Float128" | "_Float128x" | "_Decimal32" | "_Decimal64" | "_Decimal128"
        | "__bf16" | "_BitInt" | "__builtin_va_list" | "__builtin_ms_va_list";
    // Built-in operators whose operands are not evaluated, or must stay constant expressions.
    UNEVALUATED: "__builtin_offsetof" | "__builtin_types_compatible_p" | "__builtin_choose_expr"
        | "__builtin_constant_p" | "__builtin_has_attribute" | "__builtin_object_size"
        | "__builtin_dynamic_object_size" | "__builtin_classify_type" | "__builtin_tgmath";
    VA_ARG: "__builtin_va_arg";
}

/// The numbers of all spellings of keywords. A unit has those in its own table that
/// it uses.
static KEYWORDS: LazyLock<FxHashMap<&[u8], u32>> = LazyLock::new(|| {
    let spellings = SPELLINGS.iter().map(|(spelling, _)| spelling.as_bytes());
    spellings.zip(1..).collect()
});

/// All names of a unit. The words are kept end to end, and found through a
/// table with open addressing: a unit has thousands of names, and most of the
/// time they are looked up.
pub struct Names {
    words: Vec<u8>,
    /// Where the words of all names but keywords end.
    ends: Vec<u32>,
    /// As many as a power of two, a quarter of them empty.
    slots: Vec<Slot>,
    used: usize,
}

/// One word of the table.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// A part of the hash of its text.
    tag: u32,
    /// Its number from 1: first all spellings of keywords, then the others. 0 if empty.
    word: u32,
}

impl Default for Names {
    fn default() -> Self {
        Self::for_text(0)
    }
}

impl Names {
    /// Gives back the room that was kept for more.
    pub fn shrink_to_fit(&mut self) {
        self.words.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Ready for the names that a text of so many bytes is likely to have.
    pub fn for_text(length: usize) -> Self {
        let expected = 32 + length / 128;
        let slots = vec![Slot::default(); (expected * 4 / 3).next_power_of_two()];
        Self { words: Vec::new(), ends: Vec::new(), slots, used: 0 }
    }

    pub fn intern(&mut self, text: &[u8]) -> Name {
        let place = match self.look_up(text) {
            Ok(place) => return Self::name_of(self.slots[place].word),
            Err(place) => place,
        };
        if let Some(keyword) = KEYWORDS.get(text) {
            self.fill(place, *keyword, text);
            return Self::name_of(*keyword);
        }
        self.words.extend_from_slice(text);
        self.ends.push(u32::try_from(self.words.len()).expect("more than 4 GB of names"));
        let word = (SPELLINGS.len() + self.ends.len()) as u32;
        self.fill(place, word, text);
        Self::name_of(word)
    }

    pub fn find(&self, text: &[u8]) -> Option<Name> {
        let word = self.look_up(text).ok().map(|place| self.slots[place].word);
        word.or_else(|| KEYWORDS.get(text).copied()).map(Self::name_of)
    }

    pub fn text(&self, name: Name) -> &[u8] {
        match name.0.checked_sub(kw::COUNT) {
            Some(index) => self.word(index as usize),
            None => SPELLINGS
                .iter()
                .find(|(_, keyword)| *keyword == name)
                .map_or(&[], |(spelling, _)| spelling.as_bytes()),
        }
    }

    pub fn string(&self, name: Name) -> String {
        bytes::to_text(self.text(name)).into_owned()
    }

    fn name_of(word: u32) -> Name {
        let index = word as usize - 1;
        match SPELLINGS.get(index) {
            Some((_, keyword)) => *keyword,
            None => Name(kw::COUNT + (index - SPELLINGS.len()) as u32),
        }
    }

    /// The text of a name that is no keyword.
    fn word(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start as usize..self.ends[index] as usize]
    }

    fn spelling(&self, word: u32) -> &[u8] {
        let index = word as usize - 1;
        match SPELLINGS.get(index) {
            Some((spelling, _)) => spelling.as_bytes(),
            None => self.word(index - SPELLINGS.len()),
        }
    }

    fn hash(text: &[u8]) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(text);
        hasher.finish()
    }

    /// The slot of a text, or the empty one where it would be.
    fn look_up(&self, text: &[u8]) -> Result<usize, usize> {
        let hash = Self::hash(text);
        let mut place = hash as usize & (self.slots.len() - 1);
        loop {
            let slot = self.slots[place];
            if slot.word == 0 {
                return Err(place);
            }
            if slot.tag == (hash >> 32) as u32 && self.spelling(slot.word) == text {
                return Ok(place);
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
    }

    fn fill(&mut self, place: usize, word: u32, text: &[u8]) {
        self.slots[place] = Slot { tag: (Self::hash(text) >> 32) as u32, word };
        self.used += 1;
        if 4 * self.used > 3 * self.slots.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let larger = vec![Slot::default(); 2 * self.slots.len()];
        let old = std::mem::replace(&mut self.slots, larger);
        for slot in old.into_iter().filter(|slot| slot.word != 0) {
            let (Ok(place) | Err(place)) = self.look_up(self.spelling(slot.word));
            self.slots[place] = slot;
        }
    }
}

impl Name {
    pub fn is_keyword(self) -> bool {
        self.0 < kw::COUNT
    }
}
