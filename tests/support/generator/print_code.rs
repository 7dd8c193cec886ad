//! Expressions and statements as C text.

use super::options::Construct;
use super::program::*;
use std::collections::BTreeSet;
use std::fmt::Write;

pub struct Printer<'a> {
    pub program: &'a Program,
    pub layout: &'a Layout,
    pub text: String,
    pub constructs: BTreeSet<Construct>,
    pub level: usize,
    /// Of the procedure that is being printed.
    pub rank: u32,
    labels: BTreeSet<u32>,
    pub scopes: Vec<Vec<Var>>,
    pub statement_expressions: usize,
    switches: usize,
}

impl<'a> Printer<'a> {
    pub fn new(program: &'a Program, layout: &'a Layout) -> Self {
        Self {
            program,
            layout,
            text: String::new(),
            constructs: BTreeSet::new(),
            level: 0,
            rank: 0,
            labels: BTreeSet::new(),
            scopes: vec![program.globals.iter().map(|global| global.var).collect()],
            statement_expressions: 0,
            switches: 0,
        }
    }

    pub fn note(&mut self, construct: Construct) {
        self.constructs.insert(construct);
    }

    pub fn line(&mut self, text: &str) {
        if !text.is_empty() {
            let indent = self.level * self.layout.indent;
            let _ = write!(self.text, "{:indent$}{text}", "");
        }
        self.text.push('\n');
    }

    /// A line that begins at the margin, whatever is around it.
    fn margin(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn gap(&self) -> &'static str {
        if self.layout.airy { " " } else { "" }
    }

    pub fn type_name(&mut self, of: Type) -> String {
        let name = match of {
            Type::Unsigned => "unsigned",
            Type::UnsignedLong => "unsigned long",
            Type::UnsignedLongLong => "unsigned long long",
            Type::Int => "int",
            Type::Long => "long",
            Type::Short => "short",
            Type::UnsignedShort => "unsigned short",
            Type::SignedChar => "signed char",
            Type::UnsignedChar => "unsigned char",
            Type::Bool => "_Bool",
            Type::Typedef(id) => {
                self.note(Construct::Typedef);
                return format!("type{id}");
            }
        };
        name.to_string()
    }

    pub fn procedure_body(&mut self, procedure: &Procedure) {
        self.rank = procedure.rank;
        self.labels.clear();
        let parameters = (0..procedure.parameters.len()).map(|n| procedure.parameter(n));
        self.scopes.push(parameters.collect());
        self.items(&procedure.body.items, true);
        if let Some((_, value)) = &procedure.result
            && procedure.role != Role::Main
        {
            let value = self.expr(value);
            self.line(&format!("return {value};"));
        }
        self.scopes.pop();
    }

    pub fn indented(&mut self, print: impl FnOnce(&mut Self)) {
        self.level += 1;
        print(self);
        self.level -= 1;
    }

    /// `head {` … `}` with `tail` behind it.
    pub fn braced(&mut self, head: &str, tail: &str, print: impl FnOnce(&mut Self)) {
        if head.is_empty() {
            self.line("{");
        } else if self.layout.tall {
            self.line(head);
            self.line("{");
        } else {
            self.line(&format!("{head} {{"));
        }
        self.indented(print);
        self.line(&format!("}}{tail}"));
    }

    pub fn block_lines(&mut self, block: &Block) {
        self.scopes.push(Vec::new());
        self.items(&block.items, false);
        self.scopes.pop();
    }

    /// With the pragma that may stand only right behind the brace.
    fn whole_block(&mut self, block: &Block) {
        if block.contract && self.statement_expressions == 0 {
            self.note(Construct::PragmaContract);
            self.margin("#pragma STDC FP_CONTRACT OFF");
        }
        self.block_lines(block);
    }

    pub fn block(&mut self, head: &str, block: &Block, tail: &str) {
        if let [item] = &block.items[..]
            && item.comment == 0
            && !block.contract
            && tail.is_empty()
            && !head.is_empty()
            && matches!(
                item.statement,
                Statement::Emit(_)
                    | Statement::Break
                    | Statement::Continue
                    | Statement::Return(_)
                    | Statement::Goto { guarded: false, .. }
            )
        {
            self.note(Construct::Braceless);
            self.line(head);
            self.indented(|printer| printer.items(&block.items, false));
        } else if block.digraphs {
            self.note(Construct::Digraph);
            self.line(&format!("{head} <%"));
            self.indented(|printer| printer.whole_block(block));
            self.line(&format!("%>{tail}"));
        } else {
            self.braced(head, tail, |printer| printer.whole_block(block));
        }
    }

    pub fn items(&mut self, items: &[Item], value_follows: bool) {
        let mut dead = false;
        for (place, item) in items.iter().enumerate() {
            self.comment(item.comment);
            let next = items.get(place + 1).map(|item| &item.statement);
            let is_label = matches!(
                item.statement,
                Statement::Label(_) | Statement::Case(_) | Statement::Default
            );
            if is_label {
                if place > 0
                    && !dead
                    && !matches!(
                        items[place - 1].statement,
                        Statement::Label(_) | Statement::Case(_) | Statement::Default
                    )
                    && !matches!(item.statement, Statement::Label(_))
                {
                    self.note(Construct::FallThrough);
                }
                dead = false;
            } else if dead {
                self.note(Construct::DeadCode);
            }
            match &item.statement {
                Statement::Label(number) => {
                    self.labels.insert(*number);
                    self.label(&format!("l{number}:"), next, value_follows);
                }
                Statement::Case(label) => {
                    let text = self.case(label);
                    self.label(&text, next, value_follows);
                }
                Statement::Default => self.label("default:", next, value_follows),
                other => self.statement(other),
            }
            dead |= matches!(
                item.statement,
                Statement::Break
                    | Statement::Continue
                    | Statement::Return(_)
                    | Statement::Exit { .. }
                    | Statement::Goto { guarded: false, .. }
            );
        }
    }

    fn comment(&mut self, variant: u32) {
        match variant {
            0 => {}
            _ if self.statement_expressions > 0 => self.line("/* } */"),
            1 => self.line("/* What comes next { is } \" plain. */"),
            2 => self.line("// It's a line comment; with a quote"),
            3 => {
                self.line("/*");
                self.line(" * if (0) {");
                self.line(" */");
            }
            4 => self.line(""),
            number => self.line(&format!("/* note {number} */")),
        }
    }

    /// C before 2023 wants a statement behind a label.
    fn label(&mut self, label: &str, next: Option<&Statement>, value_follows: bool) {
        let options = &self.program.options;
        let kept = match next {
            Some(Statement::Declare(_)) => {
                let allowed = options.allows(Construct::LabelBeforeDeclaration);
                if allowed {
                    self.note(Construct::LabelBeforeDeclaration);
                }
                allowed
            }
            None => {
                let allowed = options.allows(Construct::LabelAtBlockEnd) && !value_follows;
                if allowed {
                    self.note(Construct::LabelAtBlockEnd);
                }
                allowed
            }
            Some(Statement::Pragma(_) | Statement::Fallthrough) => false,
            Some(Statement::Loop(_, LoopHead { unroll, .. }, _)) => !unroll,
            Some(Statement::Count(Count { unroll, .. }, ..)) => !unroll,
            Some(_) => true,
        };
        self.level = self.level.saturating_sub(1);
        self.line(&format!("{label}{}", if kept { "" } else { " ;" }));
        self.level += 1;
    }

    fn case(&mut self, label: &CaseLabel) -> String {
        match label {
            CaseLabel::Value(value) => format!("case {value}:"),
            CaseLabel::Range(low, high) => {
                self.note(Construct::CaseRange);
                format!("case {low} ... {high}:")
            }
            CaseLabel::Enumerator(id, place) => {
                self.note(Construct::CaseEnumerator);
                format!("case E{id}_{place}:")
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let gap = self.gap();
        match statement {
            Statement::Empty => {
                self.note(Construct::EmptyStatement);
                self.line(";");
            }
            Statement::Expr(Expr::Call(id, list)) => {
                let call = self.call(*id, list);
                self.line(&format!("{call};"));
            }
            Statement::Expr(Expr::Assign(target, operator, value)) => {
                let text = self.assignment(target, *operator, value);
                self.line(&format!("{text};"));
            }
            Statement::Expr(expr) => {
                let text = self.expr(expr);
                self.line(&format!("{text};"));
            }
            Statement::Emit(expr) => {
                let text = self.list(std::slice::from_ref(expr));
                self.line(&format!("emit({gap}{text}{gap});"));
            }
            Statement::Declare(declare) => self.declare(declare),
            Statement::If(test, then, other) => self.if_else("", test, then, other.as_ref()),
            Statement::Loop(kind, head, body) => self.endless(*kind, head, body),
            Statement::Count(count, rounds, body) => self.count(count, rounds, body),
            Statement::Switch(value, body) => self.switch(value, body),
            Statement::Case(_) | Statement::Default | Statement::Label(_) => {
                unreachable!("printed by `items`")
            }
            Statement::Fallthrough => {
                self.note(Construct::FallThroughAttribute);
                self.line("__attribute__((fallthrough));");
            }
            Statement::Break => {
                self.note(Construct::Break);
                self.line("break;");
            }
            Statement::Continue => {
                self.note(Construct::Continue);
                self.line("continue;");
            }
            Statement::Goto { label, guarded } => {
                let back = self.labels.contains(label);
                self.note(if back { Construct::GotoBackward } else { Construct::GotoForward });
                self.note_jump();
                let guard = if *guarded { "if (!spent()) " } else { "" };
                self.line(&format!("{guard}goto l{label};"));
            }
            Statement::Return(value) => {
                self.note(Construct::EarlyReturn);
                self.note_jump();
                let value = value.as_ref().map(|value| format!(" {}", self.expr(value)));
                self.line(&format!("return{};", value.unwrap_or_default()));
            }
            Statement::Block(block) => self.block("", block, ""),
            Statement::Exit { report: true, status } => {
                self.note(Construct::Noreturn);
                let status = self.operand(status);
                self.line(&format!("finish((int)({status} & 7u));"));
            }
            Statement::Exit { report: false, status } => {
                self.note(Construct::Exit);
                let status = self.operand(status);
                if self.program.options.statuses {
                    self.line(&format!("exit((int)({status} & 7u));"));
                } else {
                    self.line(&format!("emit({status});"));
                    self.line("exit(0);");
                }
            }
            Statement::Throw(value) => {
                self.note(Construct::Longjmp);
                let value = self.operand(value);
                self.line(&format!("leap({value});"));
            }
            Statement::MacroCall(id, list) => {
                let name = self.program.macro_of(*id).name.clone();
                let list = self.list(list);
                self.line(&format!("{name}({list});"));
            }
            Statement::Pragma(operator) => self.pragma(*operator),
            Statement::Special(special, number, exprs, blocks) => {
                self.special(*special, *number, exprs, blocks);
            }
        }
    }

    fn note_jump(&mut self) {
        if self.statement_expressions > 0 {
            self.note(Construct::JumpOutOfStatementExpression);
        }
    }

    fn pragma(&mut self, operator: bool) {
        if operator || self.statement_expressions > 0 {
            self.note(Construct::PragmaOperator);
            self.line("_Pragma(\"GCC diagnostic push\") _Pragma(\"GCC diagnostic pop\")");
        } else {
            self.note(Construct::PragmaDiagnostic);
            self.margin("#pragma GCC diagnostic push");
            self.margin("#pragma GCC diagnostic pop");
        }
        // A pragma must not be all that a block or a label has.
        self.line(";");
    }

    fn if_else(&mut self, before: &str, test: &Expr, then: &Block, other: Option<&Block>) {
        self.note(Construct::If);
        let (gap, test) = (self.gap(), self.expr(test));
        self.block(&format!("{before}if ({gap}{test}{gap})"), then, "");
        let Some(other) = other else { return };
        if let [Item { statement: Statement::If(test, then, next), comment: 0 }] = &other.items[..]
        {
            self.note(Construct::ElseIf);
            self.if_else("else ", test, then, next.as_ref());
        } else {
            self.block("else", other, "");
        }
    }

    fn unroll(&mut self, wanted: bool) {
        if wanted && self.statement_expressions == 0 {
            self.note(Construct::PragmaUnroll);
            self.margin("#pragma GCC unroll 2");
        }
    }

    fn endless(&mut self, kind: Loop, head: &LoopHead, body: &Block) {
        self.unroll(head.unroll && head.test.is_some());
        let test = head.test.as_ref().map(|test| {
            if head.fuel_in_test {
                format!("{} && !spent()", self.truth(test))
            } else {
                self.expr(test)
            }
        });
        let fuel = !head.fuel_in_test;
        let gap = self.gap();
        let lines = |printer: &mut Self| {
            if fuel {
                printer.line("if (spent())");
                printer.indented(|printer| printer.line("break;"));
            }
            printer.block_lines(body);
        };
        match kind {
            Loop::While => {
                self.note(Construct::While);
                self.braced(&format!("while ({gap}{}{gap})", test.unwrap_or_default()), "", lines);
            }
            Loop::Do => {
                self.note(Construct::Do);
                self.braced("do", &format!(" while ({});", test.unwrap_or_default()), lines);
            }
            Loop::For => {
                self.note(Construct::For);
                if test.is_none() || head.init.is_none() || head.step.is_none() {
                    self.note(Construct::ForPartMissing);
                }
                let init = head.init.as_ref().map(|init| self.expr(init)).unwrap_or_default();
                let step = head.step.as_ref().map(|step| self.expr(step)).unwrap_or_default();
                let test = test.unwrap_or_default();
                self.braced(&format!("for ({init}; {test}; {step})"), "", lines);
            }
        }
    }

    fn count(&mut self, count: &Count, rounds: &Expr, body: &Block) {
        self.note(Construct::ForDeclaration);
        self.unroll(count.unroll);
        let (name, mask) = (count.var.name(), count.limit - 1);
        let rounds = self.operand(rounds);
        let head = if count.down {
            format!("for (unsigned {name} = {rounds} & {mask}u; {name} > 0; {name}--)")
        } else {
            format!("for (int {name} = 0; (unsigned){name} < ({rounds} & {mask}u); {name}++)")
        };
        self.scopes.push(vec![count.var]);
        self.block(&head, body, "");
        self.scopes.pop();
    }

    fn switch(&mut self, value: &Expr, body: &Block) {
        self.note(Construct::Switch);
        if self.switches > 0 {
            self.note(Construct::SwitchInSwitch);
        }
        let is_default = |item: &Item| matches!(item.statement, Statement::Default);
        match body.items.iter().position(is_default) {
            None => self.note(Construct::DefaultMissing),
            Some(place) => {
                let is_case = |item: &Item| matches!(item.statement, Statement::Case(_));
                if body.items[place..].iter().any(is_case) {
                    self.note(Construct::DefaultNotLast);
                }
            }
        }
        let in_block = |item: &Item| match &item.statement {
            Statement::Block(inner) => {
                inner.items.iter().any(|item| matches!(item.statement, Statement::Case(_)))
            }
            _ => false,
        };
        if body.items.iter().any(in_block) {
            self.note(Construct::CaseInNestedBlock);
        }
        let (gap, value) = (self.gap(), self.expr(value));
        self.switches += 1;
        self.braced(&format!("switch ({gap}{value}{gap})"), "", |p| p.block_lines(body));
        self.switches -= 1;
    }

    fn declare(&mut self, declare: &Declare) {
        let Declare { var, of, storage, spelled, init, target } = declare;
        if self.scopes.iter().any(|scope| scope.contains(var)) {
            self.note(Construct::Shadowing);
        }
        let name = var.name();
        let text = match var.class {
            Class::Pointer => {
                self.note(Construct::Pointer);
                let target = target.expect("a target").name();
                format!("typeof({target}) *{name} = &{target}")
            }
            Class::StructPointer(id) => {
                format!("struct s{id} *{name} = &{}", target.expect("a target").name())
            }
            Class::Struct(id) => {
                self.note(Construct::Struct);
                format!("struct s{id} {name} = {{ {} }}", self.list(init))
            }
            Class::Array => {
                format!("{} {name}[8] = {{ {} }}", self.type_name(*of), self.list(init))
            }
            Class::Cleanup => {
                self.note(Construct::Cleanup);
                let init = self.truth(&init[0]);
                let way = if var.number % 2 == 0 { "leave_add" } else { "leave_mix" };
                format!("unsigned {name} __attribute__((cleanup({way}))) = {init}")
            }
            Class::Const => format!("const unsigned {name} = {}", self.truth(&init[0])),
            _ => {
                let storage = match storage {
                    Storage::Auto => "",
                    Storage::Static => {
                        self.note(Construct::StaticLocal);
                        "static "
                    }
                    Storage::Register => "register ",
                };
                let init = self.operand(&init[0]);
                let of = match spelled {
                    Spelled::Plain => self.type_name(*of),
                    Spelled::Auto => {
                        self.note(Construct::AutoType);
                        String::from("__auto_type")
                    }
                    Spelled::Typeof(like) => {
                        self.note(Construct::Typeof);
                        format!("typeof({})", like.name())
                    }
                };
                format!("{storage}{of} {name} = {init}")
            }
        };
        self.line(&format!("{text};"));
        self.scopes.last_mut().expect("a scope").push(*var);
    }
}

/// Lines without their indentation, with something else between them.
pub fn joined(text: &str, between: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(between)
}
