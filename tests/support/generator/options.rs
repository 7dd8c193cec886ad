//! How large programs are and what may occur in them.

use std::collections::BTreeSet;

/// An enum with the list of all its variants, kept in one place.
macro_rules! listed {
    ($(#[$about:meta])* $name:ident { $($(#[$note:meta])* $variant:ident,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$note])* $variant,)* }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant),*];
        }
    };
}
pub(super) use listed;

listed! {
    /// Classes of C constructs. The printer notes each that it writes, so that a
    /// test can see that none has vanished from what is generated.
    Construct {
        If,
        ElseIf,
        While,
        Do,
        For,
        ForPartMissing,
        ForDeclaration,
        Switch,
        CaseRange,
        CaseEnumerator,
        CaseInNestedBlock,
        FallThrough,
        FallThroughAttribute,
        DefaultMissing,
        DefaultNotLast,
        SwitchInSwitch,
        BareSwitch,
        Duff,
        Break,
        Continue,
        GotoForward,
        GotoBackward,
        LabelBeforeDeclaration,
        LabelAtBlockEnd,
        ComputedGoto,
        ComputedGotoOffsets,
        AsmGoto,
        AsmGotoJumping,
        Asm,
        LocalLabel,
        StatementExpression,
        JumpOutOfStatementExpression,
        AndOr,
        Conditional,
        Elvis,
        Comma,
        AssignmentInExpression,
        Step,
        EarlyReturn,
        DeadCode,
        Exit,
        Noreturn,
        Setjmp,
        Longjmp,
        FunctionPointer,
        Qsort,
        Recursion,
        NestedFunction,
        Cleanup,
        Vla,
        CompoundLiteral,
        Generic,
        Expect,
        Unreachable,
        ConstantP,
        Variadic,
        OldStyle,
        StaticLocal,
        Struct,
        StructPointer,
        Pointer,
        Union,
        BitField,
        Packed,
        Enum,
        Typedef,
        Shadowing,
        ObjectMacro,
        FunctionMacro,
        IndirectMacro,
        MultiLineMacro,
        StatementMacro,
        StatementExpressionMacro,
        StaticInline,
        StaticProcedure,
        VoidProcedure,
        Constructor,
        Weak,
        WeakOverridden,
        Alias,
        Pure,
        PragmaUnroll,
        PragmaDiagnostic,
        PragmaContract,
        PragmaOperator,
        Typeof,
        AutoType,
        EmptyStatement,
        Braceless,
        TrickyLiteral,
        Digraph,
        Float,
        UnorderedOperands,
    }
}

impl Construct {
    /// Those that can be left out. `PragmaDiagnostic` stands for the operator too,
    /// `Setjmp` for longjmp, `StatementExpression` for all that is in them, and
    /// `Exit` for every end in the middle.
    pub const OPTIONAL: [Construct; 31] = [
        Construct::Alias,
        Construct::Asm,
        Construct::AsmGoto,
        Construct::AsmGotoJumping,
        Construct::BareSwitch,
        Construct::Cleanup,
        Construct::ComputedGoto,
        Construct::ComputedGotoOffsets,
        Construct::ConstantP,
        Construct::Constructor,
        Construct::Digraph,
        Construct::Duff,
        Construct::Exit,
        Construct::Float,
        Construct::LabelAtBlockEnd,
        Construct::LabelBeforeDeclaration,
        Construct::LocalLabel,
        Construct::NestedFunction,
        Construct::Packed,
        Construct::PragmaContract,
        Construct::PragmaDiagnostic,
        Construct::PragmaUnroll,
        Construct::Pure,
        Construct::Qsort,
        Construct::Setjmp,
        Construct::StatementExpression,
        Construct::StatementMacro,
        Construct::Unreachable,
        Construct::Variadic,
        Construct::Vla,
        Construct::Weak,
    ];
}

/// What only gcc takes.
const GCC_ONLY: [Construct; 3] =
    [Construct::NestedFunction, Construct::LabelBeforeDeclaration, Construct::LabelAtBlockEnd];

const X86_ONLY: [Construct; 3] = [Construct::AsmGoto, Construct::AsmGotoJumping, Construct::Asm];

#[derive(Debug, Clone)]
pub struct Options {
    /// C files besides `main.c` and `base.c`.
    pub units: usize,
    pub procedures: usize,
    /// Most statements of one block.
    pub statements: usize,
    /// How deep statements nest.
    pub depth: usize,
    pub tests: usize,
    /// No operator or call has two unsequenced operands that both branch or both
    /// call. Otherwise they occur where their order does not show in the output.
    pub strict_order: bool,
    /// Tests may end with another status than 0. Otherwise the status is printed,
    /// since for most runners such a test has failed.
    pub statuses: bool,
    /// Constructs that are left out, of those in `Construct::OPTIONAL`.
    pub without: BTreeSet<Construct>,
}

/// Programs that both gcc and clang take, on x86-64.
impl Default for Options {
    fn default() -> Self {
        Self::small()
    }
}

impl Options {
    /// One procedure or two for each test: for tests that build many programs.
    pub fn small() -> Self {
        Self {
            units: 1,
            procedures: 5,
            statements: 4,
            depth: 2,
            tests: 6,
            strict_order: false,
            statuses: false,
            without: GCC_ONLY.into(),
        }
    }

    pub fn medium() -> Self {
        Self { units: 2, procedures: 9, statements: 5, depth: 3, tests: 8, ..Self::small() }
    }

    pub fn large() -> Self {
        Self { units: 5, procedures: 30, statements: 6, depth: 4, tests: 20, ..Self::small() }
    }

    /// With what clang rejects.
    #[must_use]
    pub fn for_gcc(mut self) -> Self {
        self.without.retain(|construct| !GCC_ONLY.contains(construct));
        self
    }

    /// For other processors.
    #[must_use]
    pub fn for_any_machine(self) -> Self {
        self.without(&X86_ONLY)
    }

    #[must_use]
    pub fn without(mut self, constructs: &[Construct]) -> Self {
        let is_optional = |construct| Construct::OPTIONAL.contains(construct);
        assert!(constructs.iter().all(is_optional), "{constructs:?}");
        self.without.extend(constructs);
        self
    }

    #[must_use]
    pub fn strictly_ordered(mut self) -> Self {
        self.strict_order = true;
        self
    }

    pub fn allows(&self, construct: Construct) -> bool {
        !self.without.contains(&construct)
    }
}
