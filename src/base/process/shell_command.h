#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "base/process/child.h"

namespace tutti {

/// In quotes where a shell would not leave it as it is.
std::string shell_word(const std::string& word);

/// Runs a command of users by /bin/sh -c and waits for it. Its input is empty; its output and errors go to our log,
/// line by line, with `name` in front. Its process group is its own, and the rest of that ends with it.
///
/// `goes_on` is called a few times a second: once it returns false, the command is ended. The error is why it could not
/// be started.
Result<ChildEnd> run_shell_command(const std::string& command, const std::string& name,
                                   const std::function<bool()>& goes_on);

}  // namespace tutti
