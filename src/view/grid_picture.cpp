#include <zlib.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "view/charts.h"
#include "view/markup.h"

namespace tutti {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
  const auto named = type + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(named.data()), static_cast<uInt>(named.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + named + big_endian(static_cast<std::uint32_t>(sum));
}

/// A PNG of greys, 0 to 255, line by line.
std::string png_of(const std::vector<unsigned char>& greys, std::int64_t width, std::int64_t height) {
  std::string lines;
  for (std::int64_t y = 0; y < height; ++y) {
    lines += '\0';  // no filter
    lines.append(reinterpret_cast<const char*>(greys.data()) + y * width, static_cast<std::size_t>(width));
  }
  std::string packed(compressBound(lines.size()), '\0');
  uLongf size = packed.size();
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(lines.data()),
               lines.size()) != Z_OK)
    throw std::runtime_error("zlib could not compress a picture");
  packed.resize(size);
  const std::string greyscale{8, 0, 0, 0, 0};  // bits, colour type, and how it is packed
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(static_cast<std::uint32_t>(width)) + big_endian(static_cast<std::uint32_t>(height)) +
                           greyscale) +
         chunk("IDAT", packed) + chunk("IEND", "");
}

}  // namespace

std::string grid_picture_svg(std::span<const float> values, std::int64_t rows, const GridPicture& size) {
  const auto columns = std::ssize(values) / rows;
  const std::int64_t width = std::min(size.most_columns, columns), height = std::min(size.most_rows, rows);
  std::vector<double> sums(static_cast<std::size_t>(width * height)), counts(sums.size());
  for (std::int64_t column = 0; column < columns; ++column)
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto y = height - 1 - row * height / rows;
      const auto at = static_cast<std::size_t>(y * width + column * width / columns);
      sums[at] += values[static_cast<std::size_t>(column * rows + row)];
      counts[at] += 1;
    }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= std::max(1.0, counts[i]);
  const auto [least, most] = std::ranges::minmax(sums);
  constexpr double kWhite = 255;
  std::vector<unsigned char> greys;
  for (const double value : sums)
    greys.push_back(static_cast<unsigned char>(kWhite * (1 - (value - least) / std::max(1e-9, most - least))));
  const auto pixels = [&](std::int64_t count) { return std::to_string(count * size.scale); };
  const auto box = "width=\"" + pixels(width) + "\" height=\"" + pixels(height) + "\"";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + box + "><image " + box +
         " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"" +
         url_of_bytes("image/png", png_of(greys, width, height)) + "\"/></svg>";
}

}  // namespace tutti
