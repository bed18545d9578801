#include "generated_text.h"

using namespace std::string_view_literals;

namespace tutti {
namespace {

struct Range {
  char32_t first, last;
};

constexpr Range kRanges[] = {
    {0x61, 0x7A},     {0xC0, 0x17F},    {0x391, 0x3C9},   {0x410, 0x44F},   {0x531, 0x556},     {0x5D0, 0x5EA},
    {0x620, 0x64A},   {0x904, 0x939},   {0x985, 0x9B9},   {0xA05, 0xA39},   {0xA85, 0xAB9},     {0xB85, 0xBB9},
    {0xC05, 0xC39},   {0xC85, 0xCB9},   {0xD05, 0xD39},   {0xD85, 0xDBD},   {0xE01, 0xE3A},     {0xE81, 0xEB9},
    {0xF40, 0xF6C},   {0x1000, 0x103F}, {0x10D0, 0x10FA}, {0xAC00, 0xD7A3}, {0x1200, 0x1248},   {0x1780, 0x17B3},
    {0x3041, 0x30FA}, {0x4E00, 0x9FA5}, {0xA000, 0xA48C}, {0xA500, 0xA60C}, {0x10400, 0x1044F},
};
constexpr std::string_view kWords[] = {"the",        " The",        " and",    "I'm",    "don't",   "we'LL",
                                       " HELLO",     "world",       "o'clock", " naïve", "München", " Привет",
                                       "こんにちは", " 안녕하세요", "你好",    " नमस्ते",  "مرحبا",   " שלום",
                                       "สวัสดี",       " xin chào",   "Straße",  " dž"};
constexpr std::string_view kOdd[] = {" ",        "  ",     "   ",    "\n",      "\n\n",   " \n ",
                                     "\t",       "\r\n",   "\u00a0", " \u00a0", "\u3000", "\u2003",
                                     "\xC2\x85", "\x1c",   "'",      "''",      "'s",     "'S",
                                     " 'd",      "...",    " ...",   "!?",      "--",     "<|endoftext|>",
                                     "<|0.00|>", "½",      "²",      "٣",       "Ⅷ",      "①",
                                     "e\u0301",  "\u0301", "\u200d", "\ufeff",  "\ufffd", "\U0010ffff",
                                     "\x00"sv,   "\x7f",   "_",      "$5.00",   "1,000",  "#"};

char32_t within(Lcg& lcg, Range range) {
  return range.first + lcg.pick(static_cast<std::uint32_t>(range.last - range.first + 1));
}

void append_some(std::string& text, Lcg& lcg, Range range, std::uint32_t most) {
  for (std::uint32_t left = 1 + lcg.pick(most); left > 0; --left) append_utf8(text, within(lcg, range));
}

void append_part(std::string& text, Lcg& lcg, Range script) {
  const std::uint32_t kind = lcg.pick(10);
  if (kind < 4) return append_some(text, lcg, script, 8);
  if (kind == 4) {
    text += kWords[lcg.pick(std::size(kWords))];
  } else if (kind == 5) {
    append_some(text, lcg, {U'0', U'9'}, 6);
  } else if (kind == 6) {
    append_some(text, lcg, {0x1F300, 0x1F64F}, 2);
  } else if (kind == 7) {
    append_utf8(text, within(lcg, {0x21, 0xD7FF}));  // any of the plane below the surrogates
  } else {
    text += kOdd[lcg.pick(std::size(kOdd))];
  }
}

}  // namespace

std::string generated_text(std::uint64_t index) {
  Lcg lcg(index);
  std::string text;
  for (std::uint32_t left = 1 + lcg.pick(12); left > 0; --left) {
    append_part(text, lcg, kRanges[index % std::size(kRanges)]);
    if (lcg.pick(3) == 0) text += ' ';
  }
  return text;
}

std::vector<std::int32_t> generated_ids(std::uint64_t index, std::int32_t n_vocab) {
  Lcg lcg(index);
  std::vector<std::int32_t> ids(1 + lcg.pick(20));
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(lcg.pick(static_cast<std::uint32_t>(n_vocab)));
  return ids;
}

}  // namespace tutti
