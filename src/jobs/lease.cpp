#include "jobs/lease.h"

#include <sys/random.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace tutti {

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the kernel gives no random numbers");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

double random_fraction() {
  return static_cast<double>(std::stoul(random_token().substr(0, 8), nullptr, 16)) / 4294967296.0;
}

}  // namespace tutti
