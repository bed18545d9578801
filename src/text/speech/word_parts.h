#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tutti {

// Words that are read in parts or by their characters' names: names of code, formulas, acronyms, the endings of files.
// Words are ASCII, in the capitals that they are written with.
// All functions are pure.

/// The words of a name in code: "getUserName" is get, User, Name; "HTMLParser" HTML, Parser; "microSD" micro, SD. One
/// part for any other word, and for names such as "McDonald" and "DeVito".
std::vector<std::string_view> camel_parts(std::string_view word);

/// Whether a word is the formula of a substance of two elements or more in their usual capitals, one of which has two
/// characters: "NaCl", "CaO". Capitals alone, such as "KOH", are an acronym's.
/// "WiFi" is none: it has no elements.
bool is_formula(std::string_view word);

/// Whether a word in small characters cannot be pronounced, so that these are named: "txt", "npm", "gz". False for the
/// few that can, such as "hmm" and "shh", and for more than five characters.
bool has_no_vowel(std::string_view word);

/// Whether a word in small characters is an acronym that is spelled, though it could be pronounced: "gpu", "aws".
bool is_small_acronym(std::string_view word);

/// How capitals that are spoken as a word, and that dictionaries lack, sound: "JSON" is "jason". None for others, and
/// none for those that are read by their characters' names, such as "FBI".
std::optional<std::string_view> spoken_acronym(std::string_view word);

/// Whether the name of a file's kind, or of a part of the network, is spelled though it could be a word: "exe", "io".
/// "com" and "org" are words.
bool is_spelled_ending(std::string_view ending);

}  // namespace tutti
