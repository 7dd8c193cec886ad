//! The C that is put in.

use crate::frontend::Tree;
use crate::frontend::lex::PragmaAt;
use crate::frontend::tree::Range;
use crate::ids::{Fingerprint, ProbeId};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Section of the map: one byte a probe.
pub const MAP_SECTION: &str = "edgewise_map";
/// Section of the descriptors that say where each unit's bytes are.
pub const UNITS_SECTION: &str = "edgewise_units";
/// Section of the records, which is not loaded.
pub const RECORD_SECTION: &str = ".edgewise";

/// What a log of nodes calls. The runtime has the functions that keep one; a
/// program that is linked without it has these.
const LOG_FUNCTIONS: &str = "\
    __attribute__((__weak__,__visibility__(\"hidden\"))) unsigned __edgewise_enter(void){return 0;}\
    __attribute__((__weak__,__visibility__(\"hidden\"))) void __edgewise_node(unsigned run,\
    const unsigned char*map,unsigned procedure,unsigned node)\
    {(void)run;(void)map;(void)procedure;(void)node;} ";

/// Bytes of a record per asm statement, so that no literal gets too long.
const ASM_CHUNK: usize = 1000;

/// What a probe is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Architecture {
    X86_64,
    /// 32 bits, or data that may be far away from code.
    OtherX86,
    /// A relaxed atomic store does it everywhere.
    Other,
}

pub struct Writer {
    map: String,
    unit: Fingerprint,
    architecture: Architecture,
    /// Probes that a division must not be moved above.
    guarded: FxHashSet<ProbeId>,
    /// Loops within which a probe is needed only once.
    undisturbed: FxHashSet<Range>,
    logs_nodes: bool,
}

impl Writer {
    pub fn new(
        unit: Fingerprint,
        architecture: Architecture,
        guarded: FxHashSet<ProbeId>,
        undisturbed: FxHashSet<Range>,
        logs_nodes: bool,
    ) -> Self {
        let map = format!("__edgewise_map_{}", unit.hex());
        Self { map, unit, architecture, guarded, undisturbed, logs_nodes }
    }

    pub fn is_undisturbed(&self, around: Range) -> bool {
        self.undisturbed.contains(&around)
    }

    /// One store that the compiler can neither move, merge nor drop, and above
    /// which it can move nothing that traps.
    pub fn probe(&self, probe: ProbeId) -> String {
        let (map, index) = (&self.map, probe.0);
        let is_guarded = self.guarded.contains(&probe);
        // `inline` keeps gcc from counting it against inlining.
        match self.architecture {
            // Told where the map is, compilers keep its address in a register, and
            // have one less for the procedure: the instruction names it by itself.
            Architecture::X86_64 => {
                let store =
                    format!(r#""movb {{$1,{map}+{index}(%%rip)|byte ptr [rip+{map}+{index}],1}}""#);
                if is_guarded {
                    may_jump(&format!(r#"{store}:::"memory""#))
                } else {
                    format!(r#"__asm__ __volatile__ __inline__({store}:::"memory")"#)
                }
            }
            Architecture::OtherX86 => {
                let store = r#""movb {$1,%0|%0,1}""#;
                if is_guarded {
                    may_jump(&format!(r#"{store}::"m"({map}[{index}]):"memory""#))
                } else {
                    format!(
                        "__asm__ __volatile__ __inline__({store}:\"=m\"({map}[{index}])::\"memory\")"
                    )
                }
            }
            // Elsewhere divisions do not trap.
            Architecture::Other => format!(
                "__extension__({{__atomic_store_n(&{map}[{index}],1,0);\
                 __asm__ __volatile__(\"\":::\"memory\");}})"
            ),
        }
    }

    /// The probe as an expression without a value.
    pub fn void(&self, probe: ProbeId) -> String {
        format!("__extension__({{{};}})", self.probe(probe))
    }

    /// The probe as an expression with a value.
    pub fn value(&self, probe: ProbeId, value: u8) -> String {
        format!("__extension__({{{};{value};}})", self.probe(probe))
    }

    /// Declares, before a loop, that a probe in it has not fired yet. Optimizers
    /// find out that this is so in the first round and never again.
    pub fn first_time(&self, probe: ProbeId) -> String {
        format!("int __edgewise_f{}=1;", probe.0)
    }

    /// The probe as an expression with a value, for the first time only.
    pub fn value_at_first(&self, probe: ProbeId, value: u8) -> String {
        let (first, note) = (probe.0, self.probe(probe));
        format!(
            "__extension__({{if(__edgewise_f{first}){{{note};__edgewise_f{first}=0;}}{value};}})"
        )
    }

    /// The probe as a declaration, for places where a statement would offend
    /// those who want declarations first.
    pub fn declaration(&self, probe: ProbeId) -> String {
        let value = self.value(probe, 0);
        format!(" int __edgewise_{} __attribute__((__unused__))={value};", probe.0)
    }

    /// As a declaration: a probe for an entry that is not the first. Processes
    /// share the map, and no two of them may be the first.
    pub fn again(&self, first: ProbeId, again: ProbeId) -> String {
        let (map, index) = (&self.map, first.0);
        let note = self.void(again);
        format!(
            " int __edgewise_{} __attribute__((__unused__))=\
             __atomic_exchange_n(&{map}[{index}],1,0)?({note},0):0;",
            again.0
        )
    }

    pub fn label(&self, probe: ProbeId) -> String {
        format!("__edgewise_l{}", probe.0)
    }

    /// Prefix of another name of a label, that leads to it by way of a probe.
    pub fn landing(&self, probe: ProbeId) -> String {
        format!("__edgewise_t{}_", probe.0)
    }

    pub fn prelude(&self) -> String {
        let map = &self.map;
        let map =
            format!(r#"extern unsigned char {map}[] __attribute__((__visibility__("hidden"))); "#);
        if self.logs_nodes { format!("{map}{LOG_FUNCTIONS}") } else { map }
    }

    /// Declares, at the beginning of a procedure, the number of its run.
    pub fn run_of_procedure(&self) -> String {
        String::from(" unsigned __edgewise_run __attribute__((__unused__))=__edgewise_enter();")
    }

    /// An expression: a node of a procedure runs.
    pub fn note_node(&self, procedure: usize, node: usize) -> String {
        format!("__edgewise_node(__edgewise_run,{},{procedure},{node})", self.map)
    }

    /// What stands behind the unit's own text, and whatever pragmas are in force at
    /// its end. Only one of them would change what it means.
    pub fn postlude(&self, tree: &Tree<'_>, out: &mut Vec<u8>, probes: usize, record: &[u8]) {
        let map = &self.map;
        let sets_order = |pragma: &PragmaAt| {
            let line = &tree.text[pragma.start as usize..pragma.end as usize];
            memchr::memmem::find(line, b"scalar_storage_order").is_some()
        };
        if probes > 0 && tree.tokens.pragmas.iter().any(sets_order) {
            out.extend(b"\n#pragma scalar_storage_order default");
        }
        if probes > 0 {
            let id: Vec<String> = self.unit.0.iter().map(u8::to_string).collect();
            let id = id.join(",");
            let text = format!(
                "\nunsigned char {map}[{probes}] __attribute__((__section__(\"{MAP_SECTION}\"),\
                 __visibility__(\"hidden\"),__used__));\n\
                 static struct {{unsigned char id[16];unsigned char *map;\
                 __extension__ unsigned long long count;}} __edgewise_unit \
                 __attribute__((__section__(\"{UNITS_SECTION}\"),__used__,__aligned__(8)))\
                 ={{{{{id}}},{map},{probes}}};"
            );
            out.extend(text.as_bytes());
        }
        out.extend(record_asm(record).as_bytes());
    }
}

/// An asm with a jump that is never taken: what is behind it may not be reached.
fn may_jump(asm: &str) -> String {
    format!(
        "__extension__({{__label__ __edgewise_never;\
         __asm__ __volatile__ __inline__ goto({asm}:__edgewise_never);\
         if(0){{__edgewise_never:__builtin_trap();}}}})"
    )
}

/// A record as bytes in top-level asm: no file is named, so it survives LTO
/// and caches.
pub fn record_asm(record: &[u8]) -> String {
    let mut out = String::with_capacity(record.len() * 5 + 100);
    for chunk in record.chunks(ASM_CHUNK) {
        let section = RECORD_SECTION;
        let _ = write!(out, "\n__asm__(\".pushsection {section},\\\"\\\",@progbits\\n.ascii \\\"");
        for byte in chunk {
            let _ = write!(out, "\\\\{byte:03o}");
        }
        out.push_str("\\\"\\n.popsection\");");
    }
    out.push('\n');
    out
}
