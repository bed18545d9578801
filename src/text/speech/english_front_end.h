#pragma once

#include <filesystem>

#include "base/error.h"
#include "text/speech/front_end.h"

namespace tutti {

/// Where tools/setup.sh puts CMUdict: in the cache.
std::filesystem::path cmudict_file();

/// The front end for English as phonemes, of CMUdict in the cache and of flite's letter-to-sound trees: what a new set
/// is prepared with. Fault::missing names what is not there, and how it comes onto the machine.
Result<TextFrontEnd> english_front_end();

}  // namespace tutti
