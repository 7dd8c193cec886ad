//! Interned identifiers. Keywords come first, so that a keyword test is one
//! comparison of numbers and the parser can match on constants.

use rustc_hash::FxHashMap;

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

pub struct Names {
    by_text: FxHashMap<Box<[u8]>, Name>,
    texts: Vec<Box<[u8]>>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names =
            Self { by_text: FxHashMap::default(), texts: vec![Box::default(); kw::COUNT as usize] };
        for (spelling, name) in SPELLINGS {
            names.by_text.insert(spelling.as_bytes().into(), *name);
            names.texts[name.0 as usize] = spelling.as_bytes().into();
        }
        names
    }
}

impl Names {
    /// Ready for the names that a text of so many bytes is likely to have.
    pub fn for_text(length: usize) -> Self {
        let mut names = Self::default();
        names.by_text.reserve(length / 128);
        names
    }

    pub fn intern(&mut self, text: &[u8]) -> Name {
        if let Some(name) = self.by_text.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.texts.len()).expect("more than 4 billion names"));
        self.by_text.insert(text.into(), name);
        self.texts.push(text.into());
        name
    }

    pub fn find(&self, text: &[u8]) -> Option<Name> {
        self.by_text.get(text).copied()
    }

    pub fn text(&self, name: Name) -> &[u8] {
        &self.texts[name.0 as usize]
    }

    pub fn string(&self, name: Name) -> String {
        String::from_utf8_lossy(self.text(name)).into_owned()
    }
}

impl Name {
    pub fn is_keyword(self) -> bool {
        self.0 < kw::COUNT
    }
}
