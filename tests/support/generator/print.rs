//! The files of a program.

use super::options::Construct;
use super::print_code::{Printer, joined};
use super::program::*;
use std::collections::BTreeSet;

/// What all programs have in common: arguments, output, fuel.
const BASE_H: &str = r#"#ifndef BASE_H
#define BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

/* The numbers of the command line. */
extern unsigned in[8];
extern unsigned fuel;
extern jmp_buf *jump_target;

union pun {
    unsigned word;
    unsigned char bytes[4];
};

void start(int argc, char **argv);
void emit(unsigned value);
unsigned tick(unsigned value);
void leap(unsigned value);
void leave_add(unsigned *value);
void leave_mix(unsigned *value);
_Noreturn void finish(int status);

/* Whether there is no more fuel. Says so now and then before, too, so that a
   loop without an end does not take it all. */
static inline int spent(void)
{
    return fuel == 0 || --fuel % 8 == 0;
}

#endif
"#;

const BASE_C: &str = r#"#include "base.h"

#include <stdio.h>

unsigned in[8];
unsigned fuel = 400;
jmp_buf *jump_target;

static unsigned checksum = 1;
static unsigned ticks;
static unsigned emitted;

void start(int argc, char **argv)
{
    for (int i = 1; i < argc && i <= 8; i++)
        in[i - 1] = (unsigned)strtoul(argv[i], 0, 10);
}

void emit(unsigned value)
{
    if (emitted++ < 8)
        printf("%u\n", value);
    checksum = checksum * 31 + value;
}

unsigned tick(unsigned value)
{
    ticks += value;
    return value + 1;
}

void leap(unsigned value)
{
    if (jump_target)
        longjmp(*jump_target, (int)(value & 7) + 1);
}

void leave_add(unsigned *value)
{
    emit(*value + 1);
}

void leave_mix(unsigned *value)
{
    emit(*value ^ 5);
}

_Noreturn void finish(int status)
{
    printf("%u %u %u %d\n", checksum, ticks, emitted, status);
    exit(STATUS);
}
"#;

impl Program {
    /// Name and text of every file, sources and headers.
    pub fn files(&self) -> Vec<(String, String)> {
        self.print().0
    }

    /// Names of the C files, in the order in which they are linked.
    pub fn sources(&self) -> Vec<String> {
        let units = self.units.iter().map(|unit| format!("{}.c", unit.name));
        units.chain([String::from("base.c")]).collect()
    }

    /// Name and command line arguments of every test.
    pub fn tests(&self) -> Vec<(String, String)> {
        self.tests.clone()
    }

    /// All that occurs in the text of this program.
    pub fn constructs(&self) -> BTreeSet<Construct> {
        self.print().1
    }

    pub(super) fn print(&self) -> (Vec<(String, String)>, BTreeSet<Construct>) {
        let status = if self.options.statuses { "status" } else { "0" };
        let mut files = vec![
            (String::from("base.h"), BASE_H.to_string()),
            (String::from("base.c"), BASE_C.replace("STATUS", status)),
        ];
        let mut constructs = BTreeSet::new();
        let mut print = |name: String, layout: &Layout, write: &dyn Fn(&mut Printer<'_>)| {
            let mut printer = Printer::new(self, layout);
            write(&mut printer);
            constructs.append(&mut printer.constructs);
            files.push((name, printer.text));
        };
        print(String::from("common.h"), &self.header, &|printer| self.common(printer));
        for (number, unit) in self.units.iter().enumerate() {
            if let Some(header) = &unit.header {
                print(format!("{header}.h"), &unit.layout, &|printer| self.local(printer, number));
            }
            print(format!("{}.c", unit.name), &unit.layout, &|printer| self.unit(printer, number));
        }
        (files, constructs)
    }

    fn top(&self, printer: &mut Printer<'_>, layout: &Layout) {
        for number in 0..layout.lines {
            printer.line(&format!("/* line {number} of the \"head\" */"));
        }
    }

    fn common(&self, printer: &mut Printer<'_>) {
        self.top(printer, &self.header);
        for line in ["#ifndef COMMON_H", "#define COMMON_H", "", "#include \"base.h\"", ""] {
            printer.line(line);
        }
        for typedef in &self.typedefs {
            let of = printer.type_name(typedef.of);
            printer.line(&format!("typedef {of} type{};", typedef.id));
        }
        for one in &self.enums {
            let constants = one.constants.iter().enumerate().map(|(place, value)| match value {
                Some(value) => format!("E{}_{place} = {value}", one.id),
                None => format!("E{}_{place}", one.id),
            });
            let constants: Vec<String> = constants.collect();
            printer.line(&format!("enum e{} {{ {} }};", one.id, constants.join(", ")));
        }
        for one in &self.structs {
            self.print_struct(printer, one);
        }
        self.macros.iter().filter(|one| one.unit.is_none()).for_each(|m| print_macro(printer, m));
        for global in self.globals.iter().filter(|global| !global.is_static) {
            let declaration = self.global(printer, global);
            printer.line(&format!("extern {declaration};"));
        }
        for table in &self.tables {
            let (id, count) = (table.id, table.entries.len());
            printer.line(&format!("extern unsigned (*table{id}[{count}])(unsigned, unsigned);"));
        }
        for one in &self.procedures {
            let visible = matches!(one.linkage, Linkage::Extern | Linkage::Weak);
            if visible && !matches!(one.role, Role::Main | Role::Override(_)) {
                let prototype = self.prototype(printer, one);
                printer.line(&prototype);
            }
        }
        for one in self.procedures.iter().filter(|one| one.linkage == Linkage::Inline) {
            printer.line("");
            self.definition(printer, one);
        }
        printer.line("");
        printer.line("#endif");
    }

    fn print_struct(&self, printer: &mut Printer<'_>, one: &Struct) {
        printer.braced(
            &format!("struct s{}", one.id),
            if one.packed { " __attribute__((packed));" } else { ";" },
            |printer| {
                for member in &one.members {
                    let of = printer.type_name(member.of);
                    let number = member.number;
                    match member.bits {
                        Some(bits) => {
                            printer.note(Construct::BitField);
                            printer.line(&format!("{of} m{number} : {bits};"));
                        }
                        None => printer.line(&format!("{of} m{number};")),
                    }
                }
            },
        );
        if one.packed {
            printer.note(Construct::Packed);
        }
    }

    /// What only one unit includes.
    fn local(&self, printer: &mut Printer<'_>, unit: usize) {
        self.top(printer, &self.units[unit].layout);
        self.macros.iter().filter(|m| m.unit == Some(unit)).for_each(|m| print_macro(printer, m));
        let is_own = |one: &&Procedure| one.unit == unit && one.linkage == Linkage::Static;
        for one in self.procedures.iter().filter(is_own) {
            let prototype = self.prototype(printer, one);
            printer.line(&format!("static {prototype}"));
        }
    }

    fn unit(&self, printer: &mut Printer<'_>, number: usize) {
        let unit = &self.units[number];
        self.top(printer, &unit.layout);
        printer.line("#include \"common.h\"");
        match &unit.header {
            Some(header) => printer.line(&format!("#include \"{header}.h\"")),
            None => self.local(printer, number),
        }
        printer.line("");
        for global in self.globals.iter().filter(|global| global.unit == number) {
            let declaration = self.global(printer, global);
            let storage = if global.is_static { "static " } else { "" };
            let init: Vec<String> = global.init.iter().map(u32::to_string).collect();
            let init = match global.var.class {
                Class::Array | Class::Struct(_) => format!(" = {{ {} }}", init.join(", ")),
                _ if init.is_empty() => String::new(),
                _ => format!(" = {}", init[0]),
            };
            printer.line(&format!("{storage}{declaration}{init};"));
        }
        for one in self.comparators.iter().filter(|one| one.unit == number) {
            self.comparator(printer, one);
        }
        let is_own = |one: &&Procedure| one.unit == number && one.linkage != Linkage::Inline;
        for one in self.procedures.iter().filter(is_own) {
            printer.line("");
            self.definition(printer, one);
        }
        for table in self.tables.iter().filter(|table| table.unit == number) {
            let entries: Vec<&str> =
                table.entries.iter().map(|id| self.procedure(*id).name.as_str()).collect();
            let (id, count) = (table.id, entries.len());
            printer.line("");
            printer.line(&format!(
                "unsigned (*table{id}[{count}])(unsigned, unsigned) = {{ {} }};",
                entries.join(", ")
            ));
        }
    }

    fn global(&self, printer: &mut Printer<'_>, global: &Global) -> String {
        let name = global.var.name();
        let volatile = if global.volatile { "volatile " } else { "" };
        match global.var.class {
            Class::Struct(id) => format!("struct s{id} {name}"),
            Class::Array => format!("{} {name}[8]", printer.type_name(global.of)),
            _ => format!("{volatile}{} {name}", printer.type_name(global.of)),
        }
    }

    fn comparator(&self, printer: &mut Printer<'_>, one: &Comparator) {
        let id = one.id;
        let key = printer.operand(&one.key);
        let (less, more) = if one.descending { ("1", "-1") } else { ("-1", "1") };
        printer.line("");
        printer.braced(&format!("static unsigned key{id}(unsigned x0)"), "", |printer| {
            printer.line(&format!("return {key};"));
        });
        printer.line("");
        let head = format!("static int compare{id}(const void *left, const void *right)");
        printer.braced(&head, "", |printer| {
            printer.line("unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;");
            printer.line(&format!("if (key{id}(a) != key{id}(b))"));
            printer.indented(|printer| {
                printer.line(&format!("return key{id}(a) < key{id}(b) ? {less} : {more};"));
            });
            printer.line("return a < b ? -1 : a > b;");
        });
    }

    fn parameters(&self, printer: &mut Printer<'_>, one: &Procedure, prefix: &str) -> String {
        if one.parameters.is_empty() {
            return String::from("void");
        }
        let list = one.parameters.iter().enumerate().map(|(number, of)| {
            let of = printer.type_name(*of);
            if prefix.is_empty() { of } else { format!("{of} {prefix}{number}") }
        });
        let list: Vec<String> = list.collect();
        let rest = if one.role == Role::Variadic { ", ..." } else { "" };
        list.join(", ") + rest
    }

    fn returned(&self, printer: &mut Printer<'_>, one: &Procedure) -> String {
        match one.result {
            Some((of, _)) => printer.type_name(of),
            None => String::from("void"),
        }
    }

    fn prototype(&self, printer: &mut Printer<'_>, one: &Procedure) -> String {
        let prefix = ["", "p", "value", "argument"][one.names as usize % 4];
        let parameters = self.parameters(printer, one, prefix);
        let attribute = one.attribute.map(|name| format!(" __attribute__(({name}))"));
        let of = self.returned(printer, one);
        format!("{of} {}({parameters}){};", one.symbol(self), attribute.unwrap_or_default())
    }

    fn definition(&self, printer: &mut Printer<'_>, one: &Procedure) {
        let of = self.returned(printer, one);
        let name = one.symbol(self);
        match one.role {
            Role::Main => {
                printer.braced("int main(int argc, char **argv)", "", |printer| {
                    printer.line("start(argc, argv);");
                    printer.procedure_body(one);
                    printer.line("finish(0);");
                });
                return;
            }
            Role::Alias(target) => {
                let target = &self.procedure(target).name;
                let parameters = self.parameters(printer, one, "");
                printer.line(&format!(
                    "{of} {name}({parameters}) __attribute__((alias(\"{target}\")));"
                ));
                return;
            }
            Role::Override(_) => printer.note(Construct::WeakOverridden),
            Role::Constructor => printer.note(Construct::Constructor),
            _ => {}
        }
        if one.attribute == Some("pure") {
            printer.note(Construct::Pure);
        }
        let before = match (one.role, one.linkage) {
            (Role::Constructor, _) => "static __attribute__((constructor)) ",
            (_, Linkage::Extern) => "",
            (_, Linkage::Static) => {
                printer.note(Construct::StaticProcedure);
                "static "
            }
            (_, Linkage::Weak) => {
                printer.note(Construct::Weak);
                "__attribute__((weak)) "
            }
            (_, Linkage::Inline) => {
                printer.note(Construct::StaticInline);
                "static inline "
            }
        };
        // gcc cannot compute the distance of labels in two sections.
        let before = if has_offsets(&one.body) {
            format!("__attribute__((optimize(\"no-reorder-blocks-and-partition\"))) {before}")
        } else {
            before.to_string()
        };
        let head = if one.old_style {
            printer.note(Construct::OldStyle);
            let names: Vec<String> =
                (0..one.parameters.len()).map(|number| format!("p{number}")).collect();
            let declared = one.parameters.iter().enumerate();
            let declared: String = declared
                .map(|(number, of)| format!(" {} p{number};", printer.type_name(*of)))
                .collect();
            format!("{before}{of} {name}({}){declared}", names.join(", "))
        } else {
            format!("{before}{of} {name}({})", self.parameters(printer, one, "p"))
        };
        if one.result.is_none() {
            printer.note(Construct::VoidProcedure);
        }
        printer.braced(&head, "", |printer| {
            if one.role == Role::Variadic {
                for line in [
                    "va_list rest;",
                    "unsigned v0 = 0;",
                    "va_start(rest, p0);",
                    "for (unsigned i0 = 0; i0 < p0 && i0 < 3; i0++)",
                    "    v0 = v0 * 3 + va_arg(rest, unsigned);",
                    "va_end(rest);",
                ] {
                    printer.line(line);
                }
            }
            if one.guarded {
                let value = if one.result.is_some() { " 1" } else { "" };
                printer.line("if (spent())");
                printer.indented(|printer| printer.line(&format!("return{value};")));
            }
            printer.procedure_body(one);
        });
    }
}

fn has_offsets(body: &Block) -> bool {
    let mut found = false;
    body.clone().each_block(&mut |block| {
        found |= block.items.iter().any(|item| {
            matches!(item.statement, Statement::Special(Special::Computed { offsets: true }, ..))
        });
    });
    found
}

fn print_macro(printer: &mut Printer<'_>, one: &Macro) {
    let names: Vec<String> = (0..one.parameters).map(|number| format!("x{number}")).collect();
    let parameters =
        if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) };
    let body = match &one.body {
        MacroBody::Expr(Expr::Number(value, digits)) if names.is_empty() => {
            printer.note(Construct::ObjectMacro);
            printer.expr(&Expr::Number(*value, *digits))
        }
        MacroBody::Expr(body) => {
            let is_block = matches!(body, Expr::Statement(..));
            printer.note(match (is_block, names.is_empty()) {
                (true, _) => Construct::StatementExpressionMacro,
                (_, true) => Construct::ObjectMacro,
                (_, false) => Construct::FunctionMacro,
            });
            format!("({})", printer.expr(body))
        }
        MacroBody::Block(block) => {
            printer.note(Construct::StatementMacro);
            let outer = std::mem::take(&mut printer.text);
            printer.block("do", block, " while (0)");
            let lines = std::mem::replace(&mut printer.text, outer);
            joined(&lines, if one.tall { " \\\n    " } else { " " })
        }
    };
    let body = if one.tall {
        printer.note(Construct::MultiLineMacro);
        format!("\\\n    {body}")
    } else {
        body
    };
    let name = &one.name;
    if one.indirect {
        printer.note(Construct::IndirectMacro);
        printer.line(&format!("#define {name}_{parameters} {body}"));
        printer.line(&format!("#define {name}{parameters} {name}_{parameters}"));
    } else {
        printer.line(&format!("#define {name}{parameters} {body}"));
    }
}
