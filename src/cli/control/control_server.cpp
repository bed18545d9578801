#include "cli/control/control_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>

#include "base/files.h"
#include "base/owned.h"
#include "cli/control/runtime_folder.h"

namespace tutti {
namespace {

constexpr std::size_t kLongestRequest = 1 << 16;
constexpr std::size_t kLongestAnswer = 1 << 26;

/// False where the path is longer than a socket's may be (108 bytes).
bool to_address(const std::filesystem::path& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.native().size());
  return true;
}

void limit_waiting(int fd, long milliseconds) {
  const timeval limit{milliseconds / 1000, milliseconds % 1000 * 1000};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/// Up to the end of the line; false when it does not come, or is longer than `most`.
bool read_line(int fd, std::size_t most, std::string& line) {
  std::array<char, 4096> block;
  while (line.size() < most) {
    const ssize_t got = ::recv(fd, block.data(), block.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    line.append(block.data(), static_cast<std::size_t>(got));
    if (const auto end = line.find('\n'); end != std::string::npos) {
      line.resize(end);
      return true;
    }
  }
  return false;
}

bool send_line(int fd, std::string line) {
  line += '\n';
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t put = ::send(fd, line.data() + at, line.size() - at, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += static_cast<std::size_t>(put);
  }
  return true;
}

bool is_same_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::getuid();
}

class Server final : public ControlServer {
 public:
  Server(OwnedFd listening, OwnedFd stop, std::filesystem::path path, Answer answer)
      : listening_(std::move(listening)),
        stop_(std::move(stop)),
        path_(std::move(path)),
        answer_(std::move(answer)),
        thread_([this] { serve(); }) {}
  ~Server() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
  }
  const std::filesystem::path& path() const override { return path_; }

 private:
  void serve() const {
    std::array<pollfd, 2> watched{{{listening_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    for (;;) {
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
      if (watched[1].revents) return;
      if (!(watched[0].revents & POLLIN)) continue;
      const OwnedFd client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (client) serve(client.get());
    }
  }
  void serve(int client) const {
    limit_waiting(client, 500);
    std::string line;
    if (is_same_user(client) && read_line(client, kLongestRequest, line)) send_line(client, answer_(line));
  }

  OwnedFd listening_;
  OwnedFd stop_;
  std::filesystem::path path_;
  Answer answer_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::start(Answer answer) {
  const auto folder = runtime_folder();
  if (!folder) return tl::unexpected(folder.error());
  const auto path = *folder / ("batch-" + std::to_string(::getpid()) + ".sock");
  sockaddr_un address;
  if (!to_address(path, address)) return fail(Fault::usage, path.string() + ": too long for a socket's name");
  OwnedFd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  OwnedFd stop(::eventfd(0, EFD_CLOEXEC));
  ::unlink(path.c_str());  // of a dead process with our number
  if (!listening || !stop || ::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listening.get(), 16) != 0)
    return tl::unexpected<Error>(system_error(path.string(), "cannot be listened at", errno));
  return std::make_unique<Server>(std::move(listening), std::move(stop), path, std::move(answer));
}

Result<std::string> ask_control(const std::filesystem::path& socket, std::string_view line) {
  sockaddr_un address;
  const OwnedFd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!connection || !to_address(socket, address))
    return fail(Fault::missing, socket.string() + ": no batch answers there");
  limit_waiting(connection.get(), 1000);
  if (::connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ECONNREFUSED) ::unlink(socket.c_str());  // its batch was killed
    return fail(Fault::missing, socket.string() + ": no batch answers there");
  }
  std::string answer;
  if (!send_line(connection.get(), std::string(line)) || !read_line(connection.get(), kLongestAnswer, answer))
    return fail(Fault::missing, socket.string() + ": the batch there does not answer");
  return answer;
}

}  // namespace tutti
