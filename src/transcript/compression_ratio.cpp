#include "transcript/compression_ratio.h"

#include <zlib.h>

#include <stdexcept>
#include <vector>

namespace tutti {

double compression_ratio(std::string_view utf8) {
  const auto size = static_cast<uLong>(utf8.size());
  uLongf compressed = ::compressBound(size);
  std::vector<Bytef> out(compressed);
  if (::compress(out.data(), &compressed, reinterpret_cast<const Bytef*>(utf8.data()), size) != Z_OK)
    throw std::runtime_error("zlib could not compress a text of " + std::to_string(size) + " bytes");
  return static_cast<double>(size) / static_cast<double>(compressed);
}

}  // namespace tutti
