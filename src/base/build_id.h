#pragma once

#include <string_view>

namespace tutti {

/// "0.1.0 1a2b3c4d5 sources 0123456789ab": version, commit and a hash of the sources this program was built from. Equal
/// in `tutti` and `tutti-engine` of one build. Linked into the executables only (tutti::build_id); modules get it
/// passed.
std::string_view build_id();

}  // namespace tutti
