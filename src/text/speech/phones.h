#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A sound of English by its number among phone_names().
using Phone = std::uint8_t;

/// The sounds of English in ARPAbet: 24 consonants, and 15 vowels without stress ("AH0") and with it ("AH1"). What
/// dictionaries mark as secondary stress counts as stress: small sets of speech hold too little of it to learn.
std::span<const std::string_view> phone_names();

/// The phone of a dictionary's name: "AH0", "ER2", "TH"; a vowel without a figure has none of the stress.
std::optional<Phone> phone_of(std::string_view name);

/// IPA as phones: "ˈtuːti" is T UW1 T IY0. Stress marks are before their syllable; ties, length, syllable dots and
/// spaces are passed over. Fault::usage names the first character that is no English sound.
Result<std::vector<Phone>> phones_of_ipa(std::string_view ipa);

}  // namespace tutti
