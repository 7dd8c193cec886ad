//! Random programs: first all that has a name, then the bodies.

use super::maker::{Maker, NO_UNIT};
use super::options::{Construct, Options};
use super::program::*;
use super::random::Random;

const UNIT_NAMES: [&str; 8] =
    ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];

/// Above all plain procedures: what these call without being called back.
const LEAF_RANK: u32 = 1000;

/// The same program for the same seed and options, on every machine.
pub fn program(seed: u64, options: &Options) -> Program {
    let mut random = Random::new(seed);
    let mut program = Program {
        options: options.clone(),
        units: Vec::new(),
        header: layout(&mut random),
        typedefs: Vec::new(),
        enums: Vec::new(),
        structs: Vec::new(),
        macros: Vec::new(),
        globals: Vec::new(),
        tables: Vec::new(),
        comparators: Vec::new(),
        procedures: Vec::new(),
        tests: Vec::new(),
        next: 0,
    };
    units(&mut program, &mut random);
    types(&mut program, &mut random);
    globals(&mut program, &mut random);
    macros(&mut program, &mut random);
    signatures(&mut program, &mut random);
    for place in 0..program.procedures.len() {
        let signature = program.procedures[place].clone();
        program.procedures[place] = with_body(&program, &signature, &mut random);
    }
    tests(&mut program, &mut random);
    program
}

fn layout(random: &mut Random) -> Layout {
    Layout {
        lines: random.number(3),
        indent: random.one(&[2, 4, 4, 8]),
        tall: random.percent(30),
        airy: random.percent(30),
    }
}

fn units(program: &mut Program, random: &mut Random) {
    let names = std::iter::once(String::from("main")).chain((0..program.options.units).map(|n| {
        let name = UNIT_NAMES[n % UNIT_NAMES.len()];
        if n < UNIT_NAMES.len() { name.to_string() } else { format!("{name}{n}") }
    }));
    for name in names.collect::<Vec<_>>() {
        let header = random.percent(60).then(|| format!("{name}_local"));
        program.units.push(Unit { name, header, layout: layout(random) });
    }
}

fn types(program: &mut Program, random: &mut Random) {
    for _ in 0..random.between(1, 2) {
        let id = program.fresh();
        program.typedefs.push(Typedef { id, of: random.one(&Type::ANY) });
    }
    for _ in 0..random.between(1, 2) {
        let id = program.fresh();
        let mut value = random.number(3);
        let constants = (0..random.between(2, 5)).map(|_| {
            let given = random.percent(50).then_some(value + random.number(3));
            value = given.unwrap_or(value) + 1;
            given
        });
        let constants = constants.collect();
        program.enums.push(Enum { id, constants });
    }
    for _ in 0..random.between(1, 2) {
        let id = program.fresh();
        let typedef = program.typedefs[0].id;
        let members = (0..random.between(2, 4)).map(|number| {
            let bits = random.percent(30).then(|| random.number(9) + 2);
            let of = match bits {
                Some(_) => Type::Unsigned,
                None if random.percent(20) => Type::Typedef(typedef),
                None => random.one(&Type::ANY),
            };
            Member { number, of, bits }
        });
        let members = members.collect();
        let packed = program.options.allows(Construct::Packed) && random.percent(20);
        program.structs.push(Struct { id, packed, members });
    }
}

fn globals(program: &mut Program, random: &mut Random) {
    let structs: Vec<Id> = program.structs.iter().map(|one| one.id).collect();
    for unit in 0..program.units.len() {
        for _ in 0..random.between(1, 4) {
            let class = match random.below(8) {
                0..=2 => Class::Wide,
                3 | 4 => Class::Narrow,
                5 | 6 => Class::Array,
                _ => Class::Struct(random.one(&structs)),
            };
            let of = match class {
                Class::Wide => Type::Unsigned,
                _ => random.one(&Type::ANY),
            };
            let count = match class {
                Class::Array => random.between(2, 8),
                Class::Struct(_) => 2,
                _ => random.below(2),
            };
            let init = (0..count).map(|_| random.number(50)).collect();
            let var = Var { class, number: program.fresh(), global: true };
            let volatile = class == Class::Narrow && random.percent(10);
            let is_static = random.percent(50);
            program.globals.push(Global { var, unit, is_static, of, init, volatile });
        }
    }
}

/// A maker for what stands outside of procedures: it sees what is in the common
/// header.
fn outside<'a>(program: &'a Program, random: &'a mut Random, parameters: usize) -> Maker<'a> {
    let id = program.next + 1;
    let place = signature(id, Role::Plain, 0, LEAF_RANK * 2);
    let mut maker = Maker::of(program, &place, random);
    maker.vars.retain(|var| program.globals.iter().any(|g| g.var == *var && !g.is_static));
    // Away from those of any procedure, so that arguments cannot be captured.
    maker.next = 1000 + id * 10;
    // Of no unit: only what is in the common header may be used.
    maker.unit = NO_UNIT;
    maker.parameters = parameters;
    // Whoever uses a macro has to see from its body what it does.
    maker.plain = true;
    maker.context.returns = false;
    maker
}

fn macros(program: &mut Program, random: &mut Random) {
    for _ in 0..random.between(4, 7) {
        let unit = random.percent(40).then(|| random.below(program.units.len()));
        let mut parameters = random.below(3);
        let form = random.below(5);
        let body = match form {
            0 if !program.options.allows(Construct::StatementMacro) => {
                MacroBody::Expr(Expr::number(random.number(20)))
            }
            0 => {
                parameters = parameters.max(1);
                let mut maker = outside(program, random, parameters);
                let emit = Statement::Emit(maker.pure(1, true));
                let assign = Statement::Expr(maker.assignment(1));
                let test = maker.pure(1, true);
                let then = Statement::Emit(maker.pure(0, false));
                MacroBody::Block(Block::of(vec![
                    emit,
                    Statement::If(test, Block::of(vec![then]), None),
                    assign,
                ]))
            }
            1 if program.options.allows(Construct::StatementExpression) => {
                parameters = parameters.max(1);
                let mut maker = outside(program, random, parameters);
                let var = maker.new_var(Class::Wide);
                let declare = Declare {
                    var,
                    of: Type::Unsigned,
                    storage: Storage::Auto,
                    spelled: Spelled::Plain,
                    init: vec![Expr::Parameter(0)],
                    target: None,
                };
                maker.vars.push(var);
                let test = maker.pure(1, true);
                let change = maker.assignment(1);
                let block = Block::of(vec![
                    Statement::Declare(declare),
                    Statement::If(test, Block::of(vec![Statement::Expr(change)]), None),
                ]);
                let value = Box::new(maker.pure(1, true));
                MacroBody::Expr(Expr::Statement(block, value))
            }
            _ if parameters == 0 && random.percent(60) => {
                MacroBody::Expr(Expr::number(random.number(20)))
            }
            _ => MacroBody::Expr(outside(program, random, parameters).pure(2, form > 2)),
        };
        let id = program.fresh();
        let name = format!("{}{id}", if parameters == 0 { "LIMIT" } else { "APPLY" });
        let (indirect, tall) = (random.percent(20), random.percent(20));
        program.macros.push(Macro { id, name, unit, parameters, body, indirect, tall });
    }
}

fn signature(id: Id, role: Role, unit: usize, rank: u32) -> Procedure {
    Procedure {
        id,
        name: format!("f{id}"),
        unit,
        linkage: Linkage::Extern,
        role,
        rank,
        guarded: false,
        old_style: false,
        attribute: None,
        parameters: vec![Type::Unsigned, Type::Unsigned],
        names: 0,
        result: Some((Type::Unsigned, Expr::number(0))),
        cast: false,
        body: Block::default(),
        next: 0,
    }
}

/// The attributes that mean nothing to a correct program.
const ATTRIBUTES: [&str; 4] = ["noinline", "cold", "hot", "unused"];

pub fn plain_signature(program: &mut Program, random: &mut Random, rank: u32) -> Procedure {
    let id = program.fresh();
    let unit = random.below(program.units.len());
    let mut one = signature(id, Role::Plain, unit, rank);
    one.linkage = match random.below(10) {
        0..=4 => Linkage::Extern,
        5..=7 => Linkage::Static,
        8 if program.options.allows(Construct::Weak) => Linkage::Weak,
        _ => Linkage::Inline,
    };
    one.guarded = random.percent(40);
    if random.percent(50) {
        one.parameters = (0..random.between(1, 3)).map(|_| Type::Unsigned).collect();
    }
    if random.percent(10) && one.linkage != Linkage::Inline {
        one.old_style = true;
    } else if random.percent(20) {
        one.parameters[0] = random.one(&Type::ANY);
    }
    if random.percent(15) {
        one.attribute = Some(random.one(&ATTRIBUTES));
    }
    if random.percent(12) {
        one.result = None;
    } else if random.percent(15) {
        one.result = Some((random.one(&Type::ANY), Expr::number(0)));
        one.cast = true;
    }
    one
}

/// Procedures without bodies, tables of them, and comparators.
fn signatures(program: &mut Program, random: &mut Random) {
    let main = program.fresh();
    let main = Procedure {
        name: String::from("main"),
        parameters: Vec::new(),
        ..signature(main, Role::Main, 0, 0)
    };
    program.procedures.push(main);
    for place in 0..program.options.procedures {
        let rank = u32::try_from(place).expect("few") + 1;
        let one = plain_signature(program, random, rank);
        program.procedures.push(one);
    }
    for place in 0..random.between(1, 2) {
        let id = program.fresh();
        let unit = random.below(program.units.len());
        let rank = LEAF_RANK + u32::try_from(place).expect("few");
        let mut one = signature(id, Role::Pure, unit, rank);
        let is_said = random.percent(50) && program.options.allows(Construct::Pure);
        one.attribute = is_said.then_some("pure");
        program.procedures.push(one);
    }
    others(program, random);
    let entries: Vec<Id> = program
        .procedures
        .iter()
        .filter(|one| fits_table(one) && one.linkage != Linkage::Static)
        .map(|one| one.id)
        .collect();
    let id = program.fresh();
    let list = (0..4).filter_map(|_| random.pick(&entries).copied()).collect();
    program.tables.push(Table { id, unit: random.below(program.units.len()), entries: list });
    for unit in 0..program.units.len() {
        let id = program.fresh();
        let mut maker = outside(program, random, 1);
        maker.pure = true;
        let key = maker.pure(1, true);
        program.comparators.push(Comparator { id, unit, key, descending: random.percent(50) });
    }
}

/// Whatever may be called by way of a table, from anywhere.
pub fn fits_table(one: &Procedure) -> bool {
    let kind = match one.role {
        Role::Plain => one.guarded && one.linkage != Linkage::Inline,
        Role::Pure => true,
        _ => false,
    };
    kind && one.parameters == [Type::Unsigned, Type::Unsigned]
        && matches!(one.result, Some((Type::Unsigned, _)))
}

/// Procedures of special roles.
fn others(program: &mut Program, random: &mut Random) {
    let allows = |program: &Program, construct| program.options.allows(construct);
    if allows(program, Construct::Constructor) && random.percent(30) {
        let id = program.fresh();
        let mut one = signature(id, Role::Constructor, random.below(program.units.len()), 500);
        one.linkage = Linkage::Static;
        one.parameters = Vec::new();
        one.result = None;
        program.procedures.push(one);
    }
    if allows(program, Construct::Variadic) && random.percent(40) {
        let id = program.fresh();
        let mut one = signature(id, Role::Variadic, random.below(program.units.len()), 501);
        one.parameters = vec![Type::Unsigned];
        one.next = 10;
        program.procedures.push(one);
    }
    for weak in program.procedures.clone() {
        if weak.linkage == Linkage::Weak && program.units.len() > 1 && random.percent(50) {
            let unit = (weak.unit + 1) % program.units.len();
            let id = program.fresh();
            let role = Role::Override(weak.id);
            let guarded = weak.guarded;
            program.procedures.push(Procedure {
                guarded,
                parameters: weak.parameters.clone(),
                result: weak.result.clone(),
                cast: weak.cast,
                ..signature(id, role, unit, weak.rank)
            });
        }
    }
    let aliased = program.procedures.iter().find(|one| {
        one.role == Role::Plain && one.linkage == Linkage::Extern && one.result.is_some()
    });
    if let Some(target) = aliased.cloned()
        && allows(program, Construct::Alias)
        && random.percent(40)
    {
        let id = program.fresh();
        program.procedures.push(Procedure {
            parameters: target.parameters.clone(),
            result: target.result.clone(),
            cast: target.cast,
            guarded: target.guarded,
            ..signature(id, Role::Alias(target.id), target.unit, target.rank)
        });
    }
}

/// The procedure with a body made for it.
pub fn with_body(program: &Program, signature: &Procedure, random: &mut Random) -> Procedure {
    let mut procedure = signature.clone();
    if matches!(procedure.role, Role::Alias(_)) {
        return procedure;
    }
    let depth = program.options.depth;
    let mut maker = Maker::of(program, signature, random);
    match procedure.role {
        Role::Main => {
            let items = main_items(program, &mut maker);
            procedure.body = Block { items, ..Block::default() };
        }
        Role::Constructor => {
            let change = Statement::Expr(maker.assignment(0));
            let emit = Statement::Emit(maker.pure(1, true));
            procedure.body = Block::of(vec![change, emit]);
        }
        Role::Pure => {
            let count = maker.random.between(2, 3);
            procedure.body.items = maker.items(count, 1, true);
        }
        _ => {
            let count = maker.random.between(2, program.options.statements + 1);
            procedure.body.items = maker.items(count, depth, true);
            maker.show_locals(&mut procedure.body);
        }
    }
    if let Some((_, value)) = &mut procedure.result {
        *value = if procedure.role == Role::Pure { maker.pure(2, true) } else { maker.rich(2) };
    }
    procedure.next = maker.next;
    procedure
}

/// A switch over the first argument, so that tests run different procedures.
fn main_items(program: &Program, maker: &mut Maker<'_>) -> Vec<Item> {
    let mut items = vec![Item::from(maker.statement(0))];
    let roots = program.procedures.iter().filter(|one| {
        let reachable = match one.linkage {
            Linkage::Static => one.unit == 0,
            _ => true,
        };
        one.role == Role::Plain && reachable
    });
    let mut cases = Vec::new();
    for (number, root) in roots.enumerate() {
        let value = u32::try_from(number).expect("few");
        let arguments = (0..root.parameters.len())
            .map(|place| Expr::Input(u32::try_from(place).expect("few") + 1));
        let call = Expr::Call(root.id, arguments.collect());
        cases.push(Statement::Case(CaseLabel::Value(value)));
        cases.push(match root.result {
            Some(_) => Statement::Emit(call),
            None => Statement::Expr(call),
        });
        if !maker.random.percent(10) {
            cases.push(Statement::Break);
        }
    }
    let count = cases.iter().filter(|case| matches!(case, Statement::Case(_))).count();
    if count > 0 {
        let modulus = Expr::number(u32::try_from(count).expect("few"));
        let value = Expr::Binary(Binary::Mod, Box::new(Expr::Input(0)), Box::new(modulus));
        items.push(Statement::Switch(value, Block::of(cases)).into());
    }
    items.extend(maker.items(2, 1, true));
    items
}

fn tests(program: &mut Program, random: &mut Random) {
    for number in 0..program.options.tests {
        let mut words = vec![number.to_string()];
        for _ in 0..random.between(1, 6) {
            let value = if random.percent(85) { random.number(10) } else { random.number(300) };
            words.push(value.to_string());
        }
        program.tests.push((format!("t{number:02}"), words.join(" ")));
    }
}
