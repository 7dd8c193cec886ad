//! A terminal of a given width, with a program in it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Enough for any machine; whoever waits that long has failed.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    reader: std::thread::JoinHandle<()>,
}

impl Terminal {
    /// Starts a program with all of its streams on a terminal.
    pub fn start(mut command: Command, columns: u16) -> Self {
        let (mut ours, mut theirs) = (0, 0);
        let size = libc::winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the pointers are to variables of the right type, or null where that is allowed.
        let result = unsafe {
            libc::openpty(
                &raw mut ours,
                &raw mut theirs,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                &raw const size as *mut _,
            )
        };
        assert_eq!(result, 0, "no terminal");
        // SAFETY: both were just opened, and belong to nobody else.
        let (ours, theirs) = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap());
        command.stderr(theirs);
        command.env("TERM", "xterm");
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            if !command.get_envs().any(|(name, value)| name == variable && value.is_some()) {
                command.env_remove(variable);
            }
        }
        // SAFETY: both calls are allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        // It holds the other end of the terminal.
        drop(command);
        let keyboard = File::from(ours);
        let mut output = keyboard.try_clone().unwrap();
        assert!(output.as_raw_fd() > 0);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let seen = screen.clone();
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // It ends with an error when the last process has closed it.
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                seen.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, keyboard, screen, reader }
    }

    pub fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Waits until a text is on the screen.
    pub fn wait_for(&self, text: &str) {
        let start = Instant::now();
        while !self.screen().contains(text) {
            assert!(start.elapsed() < PATIENCE, "`{text}` in:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end; all that was on the screen.
    pub fn finish(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        self.reader.join().unwrap();
        let text = String::from_utf8_lossy(&self.screen.lock().unwrap()).replace("\r\n", "\n");
        (status, text)
    }

    /// Ends the program, and forgets it.
    pub fn end(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A text without colours.
pub fn plain(text: &str) -> String {
    let code = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    code.replace_all(text, "").into_owned()
}

/// Runs a command on a terminal that is as wide as our pages, and gives what stands there when it
/// is over, without colours.
pub fn run(command: Command) -> (Vec<String>, ExitStatus) {
    let (status, text) = Terminal::start(command, 120).finish();
    (shown(&plain(&text)), status)
}

/// The lines that are left, where some were written over.
fn shown(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(last_written).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn last_written(line: &str) -> String {
    let erased = line.rsplit("\u{1b}[K").next().unwrap_or(line);
    erased.rsplit('\r').next().unwrap_or(erased).to_string()
}
