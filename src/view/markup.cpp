#include "view/markup.h"

#include <algorithm>
#include <cstdio>

#include "base/base64.h"

namespace tutti {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::string escaped_markup(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

std::string report_head(std::string_view title, std::string_view mark) {
  return "<!doctype html><meta charset=\"utf-8\"><title>" + escaped_markup(title) + "</title>\n" +
         markup_comment(mark) +
         "<style>body{font-family:sans-serif;margin:2em;max-width:70em;color:#111;background:#fff}"
         "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.3em .6em;text-align:left;"
         "vertical-align:top}td.n{text-align:right}td.right{background:#e8f4e8}svg{display:block}"
         "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}td,th{border-color:#555}"
         "td.right{background:#243524}svg{background:#fff}}</style>\n";
}

std::string markup_comment(std::string_view text) {
  return "<!-- " + std::string(text) + " -->\n";
}

std::string marked_svg(std::string picture, std::string_view text) {
  return picture.insert(picture.find('>') + 1, "\n" + markup_comment(text));
}

std::string svg_head(double width, double height) {
  char head[256];
  std::snprintf(
      head, sizeof head,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      width, height, width, height);
  return head;
}

std::string url_of_path(std::string_view path) {
  std::string url;
  for (const char c : path) {
    if (is_unreserved(c)) {
      url += c;
      continue;
    }
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    url += code;
  }
  return url;
}

std::string url_of_bytes(std::string_view type, std::string_view bytes) {
  return "data:" + std::string(type) + ";base64," + base64_of(bytes);
}

std::string audio_player(std::string_view url, double start, double end) {
  char stretch[80];
  std::snprintf(stretch, sizeof stretch, "#t=%.1f,%.1f", std::max(0.0, start), end);
  return audio_player(std::string(url) + stretch);
}

std::string audio_player(std::string_view url) {
  return "<audio controls preload=\"none\" src=\"" + escaped_markup(url) + "\"></audio>";
}

}  // namespace tutti
