//! Where processes that cannot be traced say so without a file: an abstract
//! socket, whose name every runtime knows.

use crate::bytes;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// `EDGEWISE_CHANNEL_NAME` and `EDGEWISE_CHANNELS` of the runtime.
const NAME: &str = "edgewise.runner.";
const CHANNELS: u32 = 16;
/// More than the runtime ever sends.
const MESSAGE_MAX: usize = 8192;

pub struct Channel {
    socket: UnixDatagram,
}

/// What a process says that is not traced.
#[derive(Debug, PartialEq)]
pub struct Message {
    /// Who says it, as the kernel knows.
    pub process: u32,
    /// The trace directory of its test, if it knows.
    pub directory: Vec<u8>,
    /// Itself and its ancestors, if it could see all of them.
    pub ancestors: Option<Vec<u32>>,
    pub why: String,
}

impl Channel {
    /// Takes the first name that no other runner has.
    pub fn open() -> io::Result<Self> {
        let mut problem = io::Error::from(io::ErrorKind::AddrInUse);
        for number in 0..CHANNELS {
            let address = SocketAddr::from_abstract_name(format!("{NAME}{number}"))?;
            match UnixDatagram::bind_addr(&address) {
                Ok(socket) => return Self::listening(socket),
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }

    fn listening(socket: UnixDatagram) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let on: libc::c_int = 1;
        // SAFETY: the socket is open, and the option is an int that outlives the call.
        let result = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PASSCRED,
                (&raw const on).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if result == 0 { Ok(Self { socket }) } else { Err(io::Error::last_os_error()) }
    }

    /// Waits until there is a message, but not for long.
    pub fn wait(&self, time: Duration) {
        let mut wanted =
            libc::pollfd { fd: self.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which is open.
        unsafe { libc::poll(&raw mut wanted, 1, time.as_millis() as libc::c_int) };
    }

    /// The next message, if there is one.
    pub fn receive(&self) -> Option<Message> {
        let mut bytes = [0u8; MESSAGE_MAX];
        let mut control = [0u64; 8];
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: a message header of zeros is an empty one; all buffers outlive the call.
        let (length, process) = unsafe {
            let mut header: libc::msghdr = zeroed();
            header.msg_iov = &raw mut part;
            header.msg_iovlen = 1;
            header.msg_control = control.as_mut_ptr().cast();
            header.msg_controllen = size_of_val(&control) as _;
            let length = libc::recvmsg(self.socket.as_raw_fd(), &raw mut header, 0);
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            let mut process = 0;
            if length >= 0 && !first.is_null() && (*first).cmsg_type == libc::SCM_CREDENTIALS {
                let data: *const libc::ucred = libc::CMSG_DATA(first).cast();
                process = data.read_unaligned().pid as u32;
            }
            (length, process)
        };
        let length = usize::try_from(length).ok()?;
        Some(Message::parse(process, &bytes[..length]))
    }
}

impl Message {
    fn parse(process: u32, bytes: &[u8]) -> Self {
        // A directory may have any name, so the two last lines are cut first.
        let mut lines = bytes.rsplitn(3, |byte| *byte == b'\n');
        let why = bytes::to_text(lines.next().unwrap_or_default()).into_owned();
        let ancestors = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
        let directory = lines.next().unwrap_or_default().to_vec();
        let mut ancestors: Vec<u32> =
            ancestors.split(' ').filter_map(|number| number.parse().ok()).collect();
        // Numbers of another pid namespace say nothing here.
        let is_complete = ancestors.last() == Some(&0) && ancestors.first() == Some(&process);
        ancestors.pop();
        let ancestors = is_complete.then_some(ancestors);
        Self { process, directory, ancestors, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::runtime;

    #[test]
    fn the_runtime_knows_the_names() {
        let header = runtime::source("edgewise_format.h").expect("carried");
        assert!(header.contains(&format!("#define EDGEWISE_CHANNEL_NAME {NAME:?}\n")));
        assert!(header.contains(&format!("#define EDGEWISE_CHANNELS {CHANNELS}\n")));
    }

    #[test]
    fn a_message_says_who_and_why() {
        let message = Message::parse(7, b"/tmp/a\nb\n7 3 1 0 \nno room");
        assert_eq!(message.directory, b"/tmp/a\nb");
        assert_eq!(message.ancestors, Some(vec![7, 3, 1]));
        assert_eq!(message.why, "no room");
    }

    #[test]
    fn ancestors_count_only_if_all_are_seen_from_here() {
        assert_eq!(Message::parse(7, b"\n7 3\nwhy").ancestors, None);
        assert_eq!(Message::parse(900, b"\n7 3 1 0\nwhy").ancestors, None);
        assert_eq!(Message::parse(7, b"\n\nwhy").ancestors, None);
    }
}
