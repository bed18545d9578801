#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

// The sounds that English is made of: how dictionaries, text front ends and IPA name them.

/// A sound of English by its number, 0 to 53, among phone_names().
using Phone = std::uint8_t;

/// The sounds of English in ARPAbet: 24 consonants, and 15 vowels without stress ("AH0") and with it ("AH1"). What
/// dictionaries mark as secondary stress counts as stress: small sets of speech hold too little of it to learn.
/// A phone's name is the symbol that voices know it by, behind those of marks and silence.
std::span<const std::string_view> phone_names();

/// The phone of a dictionary's name: "AH0", "ER2", "TH". A vowel without a digit is one without stress. None for a
/// name that is no phone's.
std::optional<Phone> phone_of(std::string_view name);

/// IPA as phones, the way a user corrects how a name is pronounced: "ˈtuːti" is T UW1 T IY0. Stress marks are before
/// their syllable; ties, length, syllable dots and spaces are passed over. Sounds of other languages that English
/// speakers replace are replaced ("x" by K). Fault::usage names the first character that is no sound of English, and
/// refuses IPA without any.
Result<std::vector<Phone>> phones_of_ipa(std::string_view ipa);

}  // namespace tutti
