#include "jobs/lease.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace tutti {
namespace {

using RandomBytes = std::array<unsigned char, 16>;

RandomBytes random_bytes() {
  RandomBytes bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the kernel gives no random numbers");
  return bytes;
}

}  // namespace

std::string random_token() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : random_bytes()) {
    token += kDigits[byte >> 4U];
    token += kDigits[byte & 15U];
  }
  return token;
}

double random_fraction() {
  double fraction = 0;
  for (const unsigned char byte : random_bytes()) fraction = (fraction + byte) / 256;
  return std::min(fraction, 1 - 1e-9);  // rounding may have made it 1
}

}  // namespace tutti
