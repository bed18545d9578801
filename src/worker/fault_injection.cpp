#include "worker/fault_injection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

namespace tutti {

Result<InjectedFault> parse_fault(std::string_view text) {
  constexpr std::array kKinds{std::pair{std::string_view("crash-after="), InjectedFault::Kind::crash},
                              std::pair{std::string_view("hang-after="), InjectedFault::Kind::hang},
                              std::pair{std::string_view("garble-after="), InjectedFault::Kind::garble}};
  for (const auto& [prefix, kind] : kKinds) {
    if (!text.starts_with(prefix)) continue;
    const auto number = text.substr(prefix.size());
    InjectedFault fault{.kind = kind};
    const auto [end, bad] = std::from_chars(number.data(), number.data() + number.size(), fault.after);
    if (bad == std::errc() && end == number.data() + number.size() && fault.after >= 0) return fault;
  }
  return fail(Fault::usage,
              "--fault " + std::string(text) + ": expected crash-after=N, hang-after=N or garble-after=N");
}

void commit(const InjectedFault& fault, int socket) {
  switch (fault.kind) {
    case InjectedFault::Kind::crash: std::abort();
    case InjectedFault::Kind::hang: ::raise(SIGSTOP); break;
    case InjectedFault::Kind::garble: {
      std::string noise(4096, '\0');
      for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * i * 37 + 11);
      std::ignore = ::send(socket, noise.data(), noise.size(), MSG_NOSIGNAL);
    }
  }
  // Useless from here on, until the process is killed.
  for (;;) ::pause();
}

}  // namespace tutti
