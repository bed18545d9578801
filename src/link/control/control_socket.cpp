#include "link/control/control_socket.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/environment.h"
#include "base/error.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestRequest = 4096;
constexpr std::size_t kLongestAnswer = std::size_t{64} << 20;
constexpr int kPatienceMs = 1000;     // for a peer that connects and then sends nothing
constexpr int kListedMs = 100;        // for a peer that may only be listed
constexpr int kNoDescriptorMs = 100;  // until another look whether one is free

std::optional<sockaddr_un> address_of(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

OwnedFd new_socket() {
  return OwnedFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

bool readable(int fd, int milliseconds) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

/// Up to the line's end, which is left out; none when it does not come in time or is too long.
std::optional<std::string> read_line(int fd, std::size_t most, int milliseconds) {
  std::string line;
  char block[4096];
  while (readable(fd, milliseconds)) {
    const ssize_t got = ::recv(fd, block, sizeof block, 0);
    if (got <= 0) return {};
    line.append(block, static_cast<std::size_t>(got));
    if (const auto end = line.find('\n'); end != line.npos) return line.substr(0, end);
    if (line.size() > most) return {};
  }
  return {};
}

bool send_line(int fd, std::string line) {
  line += '\n';
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t sent = ::send(fd, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// How long sending, and connecting to a process with a full queue of callers, may take.
void set_patience(const OwnedFd& socket, int milliseconds) {
  const timeval patience{.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

/// Connected, when a process listens there; else errno holds why: EAGAIN when it takes no more callers for so long.
OwnedFd connected(const fs::path& path, int milliseconds) {
  OwnedFd peer = new_socket();
  const auto address = address_of(path);
  if (!address) errno = ENAMETOOLONG;
  if (!peer || !address) return OwnedFd();
  set_patience(peer, milliseconds);
  if (::connect(peer.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) return OwnedFd();
  return peer;
}

}  // namespace

Result<fs::path> control_folder() {
  const auto runtime = variable("XDG_RUNTIME_DIR");
  const fs::path folder =
      runtime ? fs::path(*runtime) / "tutti" : fs::path("/tmp") / ("tutti-" + std::to_string(::getuid()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(folder.string(), "could not be made");
  struct stat facts {};
  const bool ours = ::lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == ::getuid();
  if (!ours)
    return fail(Fault::missing, folder.string() + ": expected a folder of this user's own, found another's",
                "Set XDG_RUNTIME_DIR");
  return folder;
}

Result<std::unique_ptr<ControlSocket>> ControlSocket::open(const fs::path& folder, const std::string& name,
                                                           Answer answer) {
  const fs::path path = folder / (name + "-" + std::to_string(::getpid()) + ".sock");
  const auto address = address_of(path);
  if (!address) return fail(Fault::unsupported, path.string() + ": too long for the name of a socket");
  OwnedFd listener = new_socket();
  OwnedFd over(::eventfd(0, EFD_CLOEXEC));
  if (!listener || !over) return fail_errno(path.string(), "could not be made");
  ::unlink(path.c_str());  // a socket of a process that had our number and was killed
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener.get(), 16) != 0)
    return fail_errno(path.string(), "could not be listened on");
  return std::unique_ptr<ControlSocket>(
      new ControlSocket(path, std::move(listener), std::move(over), std::move(answer)));
}

ControlSocket::ControlSocket(fs::path path, OwnedFd listener, OwnedFd over, Answer answer)
    : path_(std::move(path)),
      listener_(std::move(listener)),
      over_(std::move(over)),
      answer_(std::move(answer)),
      thread_([this] { serve(); }) {}

ControlSocket::~ControlSocket() {
  ::eventfd_write(over_.get(), 1);
  thread_.join();
  ::unlink(path_.c_str());
}

void ControlSocket::serve() const {
  for (;;) {
    pollfd waiting[2] = {{.fd = listener_.get(), .events = POLLIN, .revents = 0},
                         {.fd = over_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(waiting, 2, -1) < 0 && errno != EINTR) return;
    if (waiting[1].revents != 0) return;
    if (waiting[0].revents == 0) continue;
    const OwnedFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer)
      serve_one(peer);
    else if (readable(over_.get(), kNoDescriptorMs))  // none is free, and the caller still waits
      return;
  }
}

void ControlSocket::serve_one(const OwnedFd& peer) const {
  // A peer that sends a request and does not read must not keep the others waiting.
  set_patience(peer, kPatienceMs);
  if (const auto request = read_line(peer.get(), kLongestRequest, kPatienceMs))
    send_line(peer.get(), answer_(*request));
}

std::vector<fs::path> control_sockets(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code why;
  for (const auto& entry : fs::directory_iterator(folder, why)) {
    if (entry.path().extension() != ".sock") continue;
    if (connected(entry.path(), kListedMs) || errno == EAGAIN)
      found.push_back(entry.path());
    else if (errno == ECONNREFUSED)
      ::unlink(entry.path().c_str());
  }
  std::ranges::sort(found, [](const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return fs::last_write_time(a, ignored) > fs::last_write_time(b, ignored);
  });
  return found;
}

Result<std::string> send_control_request(const fs::path& socket, const std::string& request, Seconds patience) {
  const int milliseconds = static_cast<int>(patience.count() * 1000);
  const OwnedFd peer = connected(socket, milliseconds);
  if (!peer && errno != EAGAIN)
    return fail(Fault::missing, socket.string() + ": no process listens there", "The run has ended");
  if (peer && send_line(peer.get(), request))
    if (auto answer = read_line(peer.get(), kLongestAnswer, milliseconds)) return *std::move(answer);
  return fail(Fault::device,
              socket.string() + ": the run has not answered within " + std::to_string(milliseconds) + " ms");
}

}  // namespace tutti
