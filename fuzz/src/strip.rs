//! The text with probes, less the probes, is the text.

use edgewise::ids::Fingerprint;

/// Checks that only probes were put into a text, by taking them out again.
/// What is left of them are brackets.
pub fn check(text: &[u8], out: &[u8], unit: Fingerprint) {
    // A text that has such names itself cannot be told from what was put in.
    if contains(text, b"__edgewise_") || contains(text, b"__extension__({") {
        return;
    }
    // Landings rename labels, copies calls, and digraphs are written as brackets.
    let digraphs: [&[u8]; 4] = [b"<:", b":>", b"<%", b"%>"];
    let has_names = contains(out, b"__edgewise_t") || contains(out, b"__edgewise_c_");
    if has_names || digraphs.iter().any(|digraph| contains(text, digraph)) {
        return;
    }
    let map = format!("__edgewise_map_{}", unit.hex());
    let rest = Rest { out, map: map.as_bytes() };
    let mut at = 0;
    let mut wanted = text.iter().peekable();
    let mut open = 0i64;
    while wanted.peek().is_some() {
        let skipped = rest.probe_at(at);
        if skipped > 0 {
            at += skipped;
            continue;
        }
        let Some(byte) = out.get(at) else {
            panic!("the text with probes ends early");
        };
        if wanted.next_if_eq(&byte).is_none() {
            match byte {
                b'(' | b'{' => open += 1,
                b')' | b'}' => open -= 1,
                _ => panic!("{} is no probe", String::from_utf8_lossy(&out[at..][..20])),
            }
        }
        at += 1;
    }
    // Those that close behind the last byte of the text.
    loop {
        at += rest.probe_at(at);
        if !matches!(out.get(at), Some(b')' | b'}')) {
            break;
        }
        open -= 1;
        at += 1;
    }
    assert_eq!(open, 0, "brackets do not match");
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

struct Rest<'a> {
    out: &'a [u8],
    map: &'a [u8],
}

impl Rest<'_> {
    /// The length of what was put in at a place, apart from parentheses.
    fn probe_at(&self, at: usize) -> usize {
        let mut scan = Scan { rest: &self.out[at..], used: 0 };
        let found = self.prelude(&mut scan)
            || self.declaration(&mut scan)
            || self.first_time(&mut scan)
            || self.arm(&mut scan)
            || self.otherwise(&mut scan)
            || self.jump_or_landing(&mut scan)
            || self.default(&mut scan)
            || self.case(&mut scan);
        if found { scan.used } else { 0 }
    }

    fn prelude(&self, scan: &mut Scan<'_>) -> bool {
        scan.all(|s| {
            s.word(b"extern unsigned char ")
                && s.word(self.map)
                && s.word(b"[] __attribute__((__visibility__(\"hidden\"))); ")
        })
    }

    fn probe(&self, scan: &mut Scan<'_>) -> bool {
        let store = |s: &mut Scan<'_>| {
            s.word(b"(\"movb {$1,")
                && s.word(self.map)
                && s.word(b"+")
                && s.digits()
                && s.word(b"(%%rip)|byte ptr [rip+")
                && s.word(self.map)
                && s.word(b"+")
                && s.digits()
                && s.word(b"],1}\":::\"memory\"")
        };
        scan.all(|s| s.word(b"__asm__ __volatile__ __inline__") && store(s) && s.word(b")"))
            || scan.all(|s| {
                s.word(b"__extension__({__label__ __edgewise_never;")
                    && s.word(b"__asm__ __volatile__ __inline__ goto")
                    && store(s)
                    && s.word(b":__edgewise_never);")
                    && s.word(b"if(0){__edgewise_never:__builtin_trap();}})")
            })
    }

    fn value(&self, scan: &mut Scan<'_>) -> bool {
        scan.all(|s| {
            s.word(b"__extension__({")
                && self.probe(s)
                && (s.word(b";})") || s.word(b";0;})") || s.word(b";1;})"))
        }) || scan.all(|s| {
            s.word(b"__extension__({if(__edgewise_f")
                && s.digits()
                && s.word(b"){")
                && self.probe(s)
                && s.word(b";__edgewise_f")
                && s.digits()
                && (s.word(b"=0;}0;})") || s.word(b"=0;}1;})"))
        })
    }

    /// What says, before a loop, that a probe in it has not fired yet.
    fn first_time(&self, scan: &mut Scan<'_>) -> bool {
        scan.all(|s| s.word(b"int __edgewise_f") && s.digits() && s.word(b"=1;"))
    }

    fn declaration(&self, scan: &mut Scan<'_>) -> bool {
        scan.all(|s| {
            s.word(b" int __edgewise_")
                && s.digits()
                && s.word(b" __attribute__((__unused__))=")
                && self.value(s)
                && s.word(b";")
        })
    }

    /// Both arms of a condition, one of which may go without a probe.
    fn arm(&self, scan: &mut Scan<'_>) -> bool {
        scan.all(|s| {
            let first = s.word(b"?") && self.value(s);
            (first || s.word(b"1")) && s.word(b":") && (self.value(s) || first && s.word(b"0"))
        })
    }

    /// `P,` before an operand and `,P` behind an expression.
    fn otherwise(&self, scan: &mut Scan<'_>) -> bool {
        scan.all(|s| s.word(b",") && self.value(s)) || scan.all(|s| self.value(s) && s.word(b","))
    }

    fn jump_or_landing(&self, scan: &mut Scan<'_>) -> bool {
        scan.all(|s| s.word(b"goto __edgewise_l") && s.digits() && s.word(b";"))
            || scan.all(|s| s.word(b"__edgewise_l") && s.digits() && s.word(b":;"))
    }

    fn default(&self, scan: &mut Scan<'_>) -> bool {
        scan.all(|s| s.word(b"default:") && self.probe(s) && s.word(b";"))
    }

    fn case(&self, scan: &mut Scan<'_>) -> bool {
        scan.all(|s| s.word(b" ") && self.probe(s) && s.word(b";"))
            || scan.all(|s| self.probe(s) && s.word(b";"))
    }
}

struct Scan<'a> {
    rest: &'a [u8],
    used: usize,
}

impl Scan<'_> {
    /// Runs a sequence and goes back to where it began if it does not fit.
    fn all(&mut self, parts: impl FnOnce(&mut Self) -> bool) -> bool {
        let start = self.used;
        let found = parts(self);
        if !found {
            self.used = start;
        }
        found
    }

    fn word(&mut self, word: &[u8]) -> bool {
        let found = self.rest[self.used..].starts_with(word);
        if found {
            self.used += word.len();
        }
        found
    }

    fn digits(&mut self) -> bool {
        let rest = &self.rest[self.used..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.used += count;
        count > 0
    }
}
