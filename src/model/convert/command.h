#pragma once

#include <span>

namespace tutti {

/// The command line `convert --model PATH --into FOLDER --type TYPE`, after the word "convert". Prints what it did on
/// standard output, or on standard error why it could not. Returns the exit code: 0, 2 where the line cannot be
/// intended, 4 where the model could not be read or the folder not written.
int convert_command(std::span<char*> arguments);

}  // namespace tutti
