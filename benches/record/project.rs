//! Lua with a list of small tests.

use anyhow::ensure;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MAKEFILE: &str = "\
OBJECTS = $(patsubst %.c,%.o,$(filter-out src/luac.c,$(wildcard src/*.c)))
lua: $(OBJECTS)
\t$(CC) -O2 $(X) -o $@ $(OBJECTS) -lm
%.o: %.c
\t$(CC) -O2 -w $(X) -DLUA_USE_POSIX '-Dluai_makeseed(L)=42' -c -o $@ $<
";

const CONFIGURATION: &str = "[[suite]]\nname = \"lua\"\nkind = \"list\"\nfile = \"list\"\n";

/// What tests do, N times, in as many parts of Lua.
const WORK: [&str; 10] = [
    "local t={} for i=1,N do t[i]=(i*7919)%1009 end table.sort(t) assert(t[1]<=t[2])",
    "local s=string.rep('ab',N) assert(#s:gsub('a','xy')>N)",
    "local c=coroutine.wrap(function() for i=1,N do coroutine.yield(i) end end) for i=1,N do assert(c()==i) end",
    "local t=setmetatable({},{__index=function(t,k) return k*2 end}) local x=0 for i=1,N do x=x+t[i] end assert(x>0)",
    "local x=0 for w in string.rep('one two ',N):gmatch('%a+') do x=x+#w end assert(x>0)",
    "local f=load('local a=... return a*2') local x=0 for i=1,N do x=x+f(i) end assert(x>0)",
    "local t={} for i=1,N do t[#t+1]=string.format('%5.2f|%x|%q',i/3,i,'q'..i) end assert(#table.concat(t)>N)",
    "local ok,e=pcall(function() for i=1,N do if i==N then error({i}) end end end) assert(not ok and e[1]==N)",
    "local x=1 for i=1,N do x=(x<<1)~i&0xffff|i//3 end assert(x)",
    "local t={} for i=1,N do t['k'..i]=i end local n=0 for k,v in pairs(t) do n=n+v end assert(n>0) collectgarbage()",
];
/// So often that a test takes a few milliseconds, by kind of work.
const TIMES: [usize; 10] =
    [4_000, 60_000, 15_000, 40_000, 20_000, 30_000, 4_000, 300_000, 200_000, 6_000];

pub struct Project {
    pub root: PathBuf,
    /// The command of each test.
    pub tests: Vec<String>,
    pub units: usize,
}

impl Project {
    pub fn make(lua: &Path, root: &Path, tests: usize) -> anyhow::Result<Self> {
        fs_err::create_dir_all(root.join("src"))?;
        let mut units = 0;
        for entry in fs_err::read_dir(lua)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".c") || name.ends_with(".h") {
                fs_err::copy(entry.path(), root.join("src").join(&name))?;
                units += usize::from(name.ends_with(".c") && name != "luac.c");
            }
        }
        let commands = (0..tests).map(|number| {
            let kind = number % WORK.len();
            let times = TIMES[kind] * (50 + number * 37 % 100) / 100;
            format!("./lua -e \"N={times} {}\"", WORK[kind])
        });
        let tests: Vec<String> = commands.collect();
        let mut list = String::new();
        for (number, command) in tests.iter().enumerate() {
            let _ = writeln!(list, "t{number} {command}");
        }
        fs_err::write(root.join("Makefile"), MAKEFILE)?;
        fs_err::write(root.join("edgewise.toml"), CONFIGURATION)?;
        fs_err::write(root.join("list"), list)?;
        Ok(Self { root: root.to_path_buf(), tests, units })
    }

    /// Builds it, with make behind the words of a command.
    pub fn build(&self, command: &mut Command) -> anyhow::Result<()> {
        let command = command.args(["make", "-s", "-j2"]).current_dir(&self.root);
        let output = command.stdin(Stdio::null()).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }
}
