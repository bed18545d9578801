#pragma once

#include <span>

#include "model/convert/ggml_file.h"

namespace tutti {

/// The command line `convert --model PATH --into FOLDER|FILE --to FORMAT --type TYPE`, after the word "convert". Prints
/// what it did on standard output, or on standard error why it could not. `filters`: the mel filters that whisper.cpp's
/// files have. Returns the exit code: 0, 2 where the line cannot be intended, 4 where the model could not be read or
/// the new one not written.
int convert_command(std::span<char*> arguments, const MelFilterBank& filters);

}  // namespace tutti
