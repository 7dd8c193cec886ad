//! Expressions as C text.

use super::expressions::branches;
use super::options::Construct;
use super::print_code::{Printer, joined};
use super::program::*;

impl Printer<'_> {
    fn member_place(&mut self, var: Var, number: usize) -> String {
        match var.class {
            Class::StructPointer(_) => {
                self.note(Construct::StructPointer);
                format!("{}->m{number}", var.name())
            }
            _ => format!("{}.m{number}", var.name()),
        }
    }

    /// As the operand of arithmetic: never of a type narrower than `unsigned`.
    pub fn operand(&mut self, expr: &Expr) -> String {
        let text = self.expr(expr);
        let text = self.wrapped(expr, text);
        if expr.is_int() { format!("(unsigned){text}") } else { text }
    }

    /// In parentheses, unless no operator can bind tighter.
    fn wrapped(&self, expr: &Expr, text: String) -> String {
        let loose = matches!(
            expr,
            Expr::Negate(..)
                | Expr::Binary(..)
                | Expr::And(..)
                | Expr::Or(..)
                | Expr::Choose(..)
                | Expr::Elvis(..)
                | Expr::Comma(..)
                | Expr::Assign(..)
                | Expr::Step { .. }
                | Expr::Constant(_)
        );
        if loose { format!("({text})") } else { text }
    }

    /// Where only truth counts.
    pub fn truth(&mut self, expr: &Expr) -> String {
        let text = self.expr(expr);
        self.wrapped(expr, text)
    }

    pub fn list(&mut self, exprs: &[Expr]) -> String {
        let separator = if self.layout.airy { " , " } else { ", " };
        let all: Vec<String> = exprs
            .iter()
            .map(|expr| match expr {
                // A comma of their own must not separate arguments.
                Expr::Comma(..) | Expr::Literal(..) => format!("({})", self.expr(expr)),
                _ => self.expr(expr),
            })
            .collect();
        all.join(separator)
    }

    /// A place to assign to.
    pub fn place(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Read(var) if var.class == Class::Pointer => format!("*{}", var.name()),
            Expr::Read(var) => var.name(),
            Expr::Index(var, index) => format!("{}[{} & 7u]", var.name(), self.operand(index)),
            Expr::Member(var, number) => self.member_place(*var, *number),
            _ => unreachable!("not assignable: {expr:?}"),
        }
    }

    fn binary(&mut self, operator: Binary, a: &Expr, b: &Expr) -> String {
        if branches(a) && branches(b) {
            self.note(Construct::UnorderedOperands);
        }
        // A divisor is not 0 and a shift is not too far, whatever the operand.
        let is_safe = match (operator, b) {
            (Binary::Div | Binary::Mod, Expr::Number(value, _)) => *value != 0,
            // A number that is written as a character stands for another one.
            (Binary::Shl | Binary::Shr, Expr::Number(value, digits)) => {
                *value < 16 && !matches!(digits, Digits::Char)
            }
            _ => false,
        };
        let (a, b) = (self.operand(a), self.operand(b));
        let symbol = symbol(operator);
        match operator {
            Binary::Div | Binary::Mod if !is_safe => format!("{a} {symbol} ({b} | 1u)"),
            Binary::Shl | Binary::Shr if !is_safe => format!("{a} {symbol} ({b} & 15u)"),
            _ => format!("{a} {symbol} {b}"),
        }
    }

    pub fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Number(value, digits) => self.number(*value, *digits),
            Expr::Enumerator(id, place) => {
                self.note(Construct::Enum);
                format!("E{id}_{place}")
            }
            Expr::Input(number) => format!("in[{number}]"),
            Expr::Read(var) if is_cast(*var) => format!("(unsigned){}", var.name()),
            Expr::Read(_) => self.place(expr),
            Expr::Index(..) | Expr::Member(..) => format!("(unsigned){}", self.place(expr)),
            Expr::Negate(minus, a) => {
                format!("{}{}", if *minus { "-" } else { "~" }, self.operand(a))
            }
            Expr::Binary(operator, a, b) => self.binary(*operator, a, b),
            Expr::Not(a) => format!("!{}", self.truth(a)),
            Expr::And(a, b) | Expr::Or(a, b) => {
                self.note(Construct::AndOr);
                let symbol = if matches!(expr, Expr::And(..)) { "&&" } else { "||" };
                format!("{} {symbol} {}", self.truth(a), self.truth(b))
            }
            Expr::Choose(a, b, c) => {
                self.note(Construct::Conditional);
                format!("{} ? {} : {}", self.truth(a), self.truth(b), self.truth(c))
            }
            Expr::Elvis(a, b) => {
                self.note(Construct::Elvis);
                format!("{} ?: {}", self.truth(a), self.truth(b))
            }
            Expr::Comma(a, b) => {
                self.note(Construct::Comma);
                format!("{}, {}", self.truth(a), self.truth(b))
            }
            Expr::Assign(target, operator, value) => {
                self.note(Construct::AssignmentInExpression);
                self.assignment(target, *operator, value)
            }
            Expr::Step { var, up, before } => {
                self.note(Construct::Step);
                let (name, sign) = (var.name(), if *up { "++" } else { "--" });
                if *before { format!("{sign}{name}") } else { format!("{name}{sign}") }
            }
            Expr::Call(id, list) => {
                let cast = if self.program.procedure(*id).cast { "(unsigned)" } else { "" };
                format!("{cast}{}", self.call(*id, list))
            }
            Expr::Indirect(id, index, list) => {
                self.note(Construct::FunctionPointer);
                let (index, list) = (self.operand(index), self.list(list));
                format!("table{id}[{index} & 3u]({list})")
            }
            Expr::Tick(a) => format!("tick({})", self.list(std::slice::from_ref(a))),
            Expr::Macro(id, list) => {
                let name = &self.program.macro_of(*id).name;
                if list.is_empty() { name.clone() } else { format!("{name}({})", self.list(list)) }
            }
            Expr::Parameter(number) => format!("(x{number})"),
            Expr::Statement(block, value) => self.statement_expression(block, value),
            _ => self.odd(expr),
        }
    }

    pub fn assignment(&mut self, target: &Expr, operator: Option<Binary>, value: &Expr) -> String {
        let target = self.place(target);
        let symbol = operator.map_or("", symbol);
        format!("{target} {symbol}= {}", self.truth(value))
    }

    /// The less common expressions.
    fn odd(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Cast(of, a) => {
                let name = self.type_name(*of);
                format!("(unsigned)({name}){}", self.operand(a))
            }
            Expr::SizeOf(var) => format!("(unsigned)sizeof {}", var.name()),
            Expr::SizeOfStruct(id) => format!("(unsigned)sizeof(struct s{id})"),
            Expr::Generic(var) => {
                self.note(Construct::Generic);
                let name = var.name();
                format!(
                    "_Generic({name}, unsigned: 1u, int: 2u, unsigned char: 3u, unsigned long: 4u, default: 5u)"
                )
            }
            Expr::Expect(a, likely) => {
                self.note(Construct::Expect);
                format!("(unsigned)__builtin_expect(!!{}, {})", self.truth(a), u8::from(*likely))
            }
            Expr::Constant(a) => {
                self.note(Construct::ConstantP);
                let a = self.operand(a);
                format!("__builtin_constant_p({a}) ? {a} + 1u : 1u + {a}")
            }
            Expr::Literal(id, init, number) => {
                self.note(Construct::CompoundLiteral);
                format!("(unsigned)((struct s{id}){{ {} }}).m{number}", self.list(init))
            }
            Expr::Pun(a, index) => {
                self.note(Construct::Union);
                let (a, index) = (self.operand(a), self.operand(index));
                format!("(unsigned)((union pun){{ .word = {a} }}).bytes[{index} & 3u]")
            }
            Expr::Text(number, index) => {
                self.note(Construct::TrickyLiteral);
                format!("(unsigned){}[{} & 3u]", TEXTS[*number], self.operand(index))
            }
            _ => unreachable!("printed by `expr`"),
        }
    }

    fn number(&mut self, value: u32, digits: Digits) -> String {
        match digits {
            Digits::Hex => format!("{value:#x}u"),
            Digits::Octal => format!("0{value:o}u"),
            Digits::Char => match char_of(value) {
                Some(text) => {
                    self.note(Construct::TrickyLiteral);
                    text.to_string()
                }
                None => format!("{value}u"),
            },
            Digits::Decimal => format!("{value}u"),
        }
    }

    pub fn call(&mut self, id: Id, list: &[Expr]) -> String {
        let callee = self.program.procedure(id);
        if callee.rank <= self.rank {
            self.note(Construct::Recursion);
        }
        match callee.role {
            Role::Variadic => {
                self.note(Construct::Variadic);
                let rest: String =
                    list.iter().map(|a| format!(", (unsigned)({})", self.expr(a))).collect();
                format!("{}({}u{rest})", callee.name, list.len())
            }
            _ => {
                if matches!(callee.role, Role::Alias(_)) {
                    self.note(Construct::Alias);
                }
                format!("{}({})", callee.name, self.list(list))
            }
        }
    }

    /// The lines of a block within an expression, joined to one: no directive
    /// and no line comment can be in it.
    fn statement_expression(&mut self, block: &Block, value: &Expr) -> String {
        self.note(Construct::StatementExpression);
        let outer = std::mem::take(&mut self.text);
        let level = std::mem::replace(&mut self.level, 0);
        self.statement_expressions += 1;
        self.scopes.push(Vec::new());
        if block.local_labels {
            let labels = block.items.iter().filter_map(|item| match item.statement {
                Statement::Label(number) => Some(format!("l{number}")),
                _ => None,
            });
            let labels: Vec<String> = labels.collect();
            if !labels.is_empty() {
                self.note(Construct::LocalLabel);
                self.line(&format!("__label__ {};", labels.join(", ")));
            }
        }
        self.items(&block.items, true);
        let value = self.expr(value);
        self.line(&format!("{value};"));
        self.scopes.pop();
        self.statement_expressions -= 1;
        self.level = level;
        let inner = std::mem::replace(&mut self.text, outer);
        format!("({{ {} }})", joined(&inner, " "))
    }
}

/// Read through a cast.
fn is_cast(var: Var) -> bool {
    matches!(var.class, Class::Narrow | Class::Counter | Class::Parameter)
}

fn symbol(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Mod => "%",
        Binary::Xor => "^",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::Shl => "<<",
        Binary::Shr => ">>",
        Binary::Lt => "<",
        Binary::Le => "<=",
        Binary::Gt => ">",
        Binary::Ge => ">=",
        Binary::Eq => "==",
        Binary::Ne => "!=",
    }
}
