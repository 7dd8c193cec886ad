//! Statements of fixed shape as C text.

use super::options::Construct;
use super::print_code::Printer;
use super::program::*;

impl Printer<'_> {
    pub fn special(&mut self, special: Special, number: u32, exprs: &[Expr], blocks: &[Block]) {
        let operands: Vec<String> = exprs.iter().map(|expr| self.operand(expr)).collect();
        match special {
            Special::BareSwitch(value) => {
                self.note(Construct::BareSwitch);
                self.block(&format!("switch ({} & 3u) case {value}:", operands[0]), &blocks[0], "");
            }
            _ => self.braced("", "", |printer| {
                printer.inside(special, number, &operands, blocks);
            }),
        }
    }

    fn inner(&mut self, block: &Block) {
        self.block("", block, "");
    }

    fn inside(&mut self, special: Special, number: u32, operands: &[String], blocks: &[Block]) {
        match special {
            Special::Duff => self.duff(number, &operands[0], blocks),
            Special::Computed { offsets } => self.computed(offsets, number, operands, blocks),
            Special::AsmGoto { jumps } => {
                if jumps {
                    self.note(Construct::AsmGotoJumping);
                    let test = "testl %0, %0\\n\\tjnz %l";
                    self.line(&format!(
                        "__asm__ goto (\"{test}[la{number}]\" : : \"r\" ((unsigned)({} & 1u)) : \"cc\" : la{number});",
                        operands[0]
                    ));
                } else {
                    self.note(Construct::AsmGoto);
                    self.line(&format!("emit({});", operands[0]));
                    self.line(&format!("__asm__ goto (\"\" : : : : la{number});"));
                }
                self.inner(&blocks[0]);
                self.line(&format!("la{number}: ;"));
                self.inner(&blocks[1]);
            }
            Special::Asm => {
                self.note(Construct::Asm);
                self.line(&format!("unsigned x{number} = {};", operands[0]));
                self.line(&format!(
                    "__asm__ volatile (\"addl %1, %0\" : \"+r\" (x{number}) : \"r\" ((unsigned)({})) : \"cc\");",
                    operands[1]
                ));
                self.line(&format!("emit(x{number});"));
            }
            Special::Try => self.attempt(number, &operands[0], blocks),
            Special::Vla => {
                self.note(Construct::Vla);
                let [size, start, index] = operands else { unreachable!("three operands") };
                let z = format!("z{number}");
                let count = format!("(unsigned)(sizeof {z} / sizeof *{z})");
                self.line(&format!("unsigned {z}[({size} & 3u) + 1u];"));
                self.line(&format!("for (unsigned j = 0; j < {count}; j++)"));
                self.indented(|printer| printer.line(&format!("{z}[j] = {start} + j;")));
                self.line(&format!("emit({z}[{index} % {count}]);"));
            }
            Special::Sort(id) => {
                self.note(Construct::Qsort);
                let y = format!("y{number}");
                self.line(&format!("unsigned {y}[4] = {{ {} }};", operands.join(", ")));
                self.line(&format!("qsort({y}, 4, sizeof *{y}, compare{id});"));
                self.line(&format!("emit({y}[0]);"));
                self.line(&format!("emit({y}[1] ^ {y}[2]);"));
            }
            Special::Unreachable => {
                self.note(Construct::Unreachable);
                self.braced(&format!("switch ({} & 1u)", operands[0]), "", |printer| {
                    printer.line("case 0:");
                    printer.inner(&blocks[0]);
                    printer.line("break;");
                    printer.line("case 1:");
                    printer.inner(&blocks[1]);
                    printer.line("break;");
                    printer.line("default:");
                    printer.line("__builtin_unreachable();");
                });
            }
            Special::Nested => {
                self.note(Construct::NestedFunction);
                let head = format!("unsigned nested{number}(unsigned p{number})");
                self.braced(&head, "", |printer| {
                    printer.block_lines(&blocks[0]);
                    printer.line(&format!("return {};", operands[1]));
                });
                self.line(&format!("emit(nested{number}({}));", operands[0]));
            }
            Special::Float => {
                self.note(Construct::Float);
                self.line(&format!(
                    "double d{number} = (double)({} & 1023u) * 0.5 + (double)({} & 255u) / 4.0;",
                    operands[0], operands[1]
                ));
                self.line(&format!("emit((unsigned)d{number});"));
            }
            Special::BareSwitch(_) => unreachable!("has no block around it"),
        }
    }

    fn duff(&mut self, number: u32, rounds: &str, blocks: &[Block]) {
        self.note(Construct::Duff);
        self.line(&format!("unsigned d{number} = ({rounds} & 7u) + 1u;"));
        self.braced(&format!("switch (d{number} & 3u)"), "", |printer| {
            printer.line("case 0:");
            printer.braced("do", &format!(" while (--d{number} > 0);"), |printer| {
                printer.inner(&blocks[0]);
                printer.line("case 3:");
                printer.inner(&blocks[1]);
                printer.line("default:");
                printer.inner(&blocks[2]);
            });
        });
    }

    fn computed(&mut self, offsets: bool, number: u32, operands: &[String], blocks: &[Block]) {
        let labels = ["la", "lb", "lc"].map(|label| format!("{label}{number}"));
        let [first, ..] = &labels;
        let table = format!("where{number}");
        let (head, entries): (String, Vec<String>) = if offsets {
            self.note(Construct::ComputedGotoOffsets);
            let entries = labels.iter().map(|label| format!("&&{label} - &&{first}")).collect();
            (format!("static const int {table}[]"), entries)
        } else {
            self.note(Construct::ComputedGoto);
            let entries = labels.iter().map(|label| format!("&&{label}")).collect();
            (format!("static void *const {table}[]"), entries)
        };
        let goto = |index: &str| {
            if offsets {
                format!("goto *(&&{first} + {table}[{index} % 3u]);")
            } else {
                format!("goto *{table}[{index} % 3u];")
            }
        };
        self.line(&format!("{head} = {{ {} }};", entries.join(", ")));
        self.line(&goto(&operands[0]));
        for (place, (label, block)) in labels.iter().zip(blocks).enumerate() {
            self.line(&format!("{label}: ;"));
            self.inner(block);
            if place == 1 {
                self.line(&format!("if ({} % 4u && !spent())", operands[1]));
                self.indented(|printer| printer.line(&goto(&operands[1])));
            }
        }
    }

    /// The target is saved and put back, since procedures are entered again.
    fn attempt(&mut self, number: u32, value: &str, blocks: &[Block]) {
        self.note(Construct::Setjmp);
        self.line(&format!("jmp_buf env{number};"));
        self.line(&format!("jmp_buf *const outer{number} = jump_target;"));
        self.line(&format!("volatile unsigned w{number} = {value};"));
        self.braced(&format!("if (setjmp(env{number}) == 0)"), "", |printer| {
            printer.line(&format!("jump_target = &env{number};"));
            printer.inner(&blocks[0]);
            printer.line(&format!("w{number} = w{number} + 1u;"));
        });
        self.braced("else", "", |printer| {
            printer.line(&format!("jump_target = outer{number};"));
            printer.inner(&blocks[1]);
        });
        self.line(&format!("jump_target = outer{number};"));
        self.line(&format!("emit(w{number});"));
    }
}
