//! Expressions of GitHub Actions, as far as a workflow of ours has them. Whatever else is an error.

use serde_json::Value;

/// What an expression may ask for.
pub struct Scope<'a> {
    /// `github`, `needs`, `matrix` and their like.
    pub contexts: &'a Value,
    /// What `success()` says.
    pub succeeded: bool,
}

/// Whether a condition asks by itself how others ended.
fn asks_for_status(condition: &str) -> bool {
    ["always()", "cancelled()", "failure()", "success()"]
        .iter()
        .any(|name| condition.contains(name))
}

/// A condition, with or without `${{ }}` around it.
pub fn holds(condition: &str, scope: &Scope<'_>) -> bool {
    let inner = condition.trim().strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}"));
    let value = is_true(&evaluate(inner.unwrap_or(condition), scope));
    if asks_for_status(condition) { value } else { scope.succeeded && value }
}

/// A text with all `${{ }}` in it replaced.
pub fn interpolated(text: &str, scope: &Scope<'_>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${{") {
        let (inner, behind) = behind.split_once("}}").expect("an expression has an end");
        out.push_str(before);
        out.push_str(&shown(&evaluate(inner, scope)));
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// A value of a workflow: one expression may be more than a text.
pub fn value(text: &str, scope: &Scope<'_>) -> Value {
    let inner = text.trim().strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}"));
    match inner.filter(|inner| !inner.contains("${{")) {
        Some(inner) => evaluate(inner, scope),
        None => Value::String(interpolated(text, scope)),
    }
}

pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

fn evaluate(text: &str, scope: &Scope<'_>) -> Value {
    let tokens = tokens(text);
    let mut parser = Parser { tokens: &tokens, at: 0, scope };
    let value = parser.either();
    assert_eq!(parser.at, tokens.len(), "`{text}` goes on behind its end");
    value
}

fn tokens(text: &str) -> Vec<String> {
    let expression =
        regex::Regex::new(r"'(?:[^']|'')*'|&&|\|\||==|!=|[!(),]|[A-Za-z_][\w.-]*|\d+").unwrap();
    let mut all = Vec::new();
    let mut end = 0;
    for found in expression.find_iter(text) {
        assert!(text[end..found.start()].trim().is_empty(), "`{text}` is not understood");
        all.push(found.as_str().to_string());
        end = found.end();
    }
    assert!(text[end..].trim().is_empty(), "`{text}` is not understood");
    all
}

struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
    scope: &'a Scope<'a>,
}

impl Parser<'_> {
    fn takes(&mut self, token: &str) -> bool {
        let is_next = self.tokens.get(self.at).is_some_and(|next| next == token);
        self.at += usize::from(is_next);
        is_next
    }

    fn either(&mut self) -> Value {
        let mut left = self.both();
        while self.takes("||") {
            let right = self.both();
            left = if is_true(&left) { left } else { right };
        }
        left
    }

    fn both(&mut self) -> Value {
        let mut left = self.compared();
        while self.takes("&&") {
            let right = self.compared();
            left = if is_true(&left) { right } else { left };
        }
        left
    }

    fn compared(&mut self) -> Value {
        let left = self.one();
        let same = |left: &Value, right: &Value| shown(left).eq_ignore_ascii_case(&shown(right));
        if self.takes("==") {
            return Value::Bool(same(&left, &self.one()));
        }
        if self.takes("!=") {
            return Value::Bool(!same(&left, &self.one()));
        }
        left
    }

    fn one(&mut self) -> Value {
        if self.takes("!") {
            return Value::Bool(!is_true(&self.one()));
        }
        if self.takes("(") {
            let value = self.either();
            assert!(self.takes(")"), "a parenthesis is missing");
            return value;
        }
        let token = self.tokens.get(self.at).expect("an expression ends too early").clone();
        self.at += 1;
        if let Some(text) = token.strip_prefix('\'') {
            return Value::String(text.trim_end_matches('\'').replace("''", "'"));
        }
        if let Ok(number) = token.parse::<u64>() {
            return Value::from(number);
        }
        if self.takes("(") {
            let argument = if self.takes(")") { None } else { Some(self.either()) };
            assert!(argument.is_none() || self.takes(")"), "one argument is enough");
            return self.call(&token, argument);
        }
        let path = token.split('.');
        path.fold(self.scope.contexts.clone(), |value, name| {
            value.get(name).cloned().unwrap_or_default()
        })
    }

    fn call(&self, function: &str, argument: Option<Value>) -> Value {
        match (function, argument) {
            ("always", None) => Value::Bool(true),
            ("cancelled", None) => Value::Bool(false),
            ("success", None) => Value::Bool(self.scope.succeeded),
            ("failure", None) => Value::Bool(!self.scope.succeeded),
            ("fromJSON", Some(text)) => serde_json::from_str(&shown(&text)).expect("JSON"),
            _ => panic!("{function} is no function that is known here"),
        }
    }
}
