#include "base/process/shell_command.h"

#include <poll.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/try.h"

namespace tutti {

std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("_@%+=:,./-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Result<ChildEnd> run_shell_command(const std::string& command, const std::string& name,
                                   const std::function<bool()>& goes_on) {
  constexpr int kLookEvery = 200;  // milliseconds
  const auto child = TRY(Child::start({.name = name, .command = {"/bin/sh", "-c", command}}));
  pollfd exited{.fd = child->pidfd(), .events = POLLIN, .revents = 0};
  while (goes_on() && ::poll(&exited, 1, kLookEvery) <= 0) continue;
  return child->end(Seconds(0));
}

}  // namespace tutti
