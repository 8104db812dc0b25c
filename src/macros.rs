//! The macros behind the wire types: what many types share is stated here once.

/// A struct that travels as a JSON object.
///
/// Camel-case names on the wire, and unknown fields kept in `extra`. Of the `always` and `optional` groups a
/// missing field and `null` read as the default; a default of the latter is not written.
macro_rules! wire {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            required {
                $($(#[$required_meta:meta])* $required:ident: $required_type:ty,)*
            }
            $(always {
                $($(#[$always_meta:meta])* $always:ident: $always_type:ty,)*
            })?
            optional {
                $($(#[$optional_meta:meta])* $optional:ident: $optional_type:ty,)*
            }
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$required_meta])* pub $required: $required_type,)*
            $($(
                $(#[$always_meta])*
                #[serde(default, deserialize_with = "crate::model::null_as_default")]
                pub $always: $always_type,
            )*)?
            $(
                $(#[$optional_meta])*
                #[serde(
                    default,
                    deserialize_with = "crate::model::null_as_default",
                    skip_serializing_if = "crate::model::is_default"
                )]
                pub $optional: $optional_type,
            )*
            /// Fields this version of the crate does not know, as they came; sent back with the rest.
            #[serde(flatten, deserialize_with = "crate::model::plain::fields")]
            pub extra: crate::model::types::Extra,
        }
    };
}

/// An enum of texts that keeps a text it does not know, prints it, and writes it back the same.
macro_rules! string_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)*
            /// A value this version of the crate does not know, as it came.
            Unknown(String),
        }

        impl $name {
            /// The text on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Unknown(text) => text,
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    unknown => Self::Unknown(unknown.to_owned()),
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => Self::$variant,)*
                    _ => Self::Unknown(text),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::model::json::Text::deserialize(deserializer).map(|text| Self::from(text.as_ref()))
            }
        }
    };
}

/// A newtype over the server's opaque id, so that one resource's id can't stand for another's.
macro_rules! id {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// Opaque: never parsed, compared as text, cheap to clone.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl From<&String> for $name {
            fn from(id: &String) -> Self {
                Self(id.as_str().into())
            }
        }

        impl From<&Self> for $name {
            fn from(id: &Self) -> Self {
                id.clone()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::model::json::Text::deserialize(deserializer).map(|text| Self::from(text.as_ref()))
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }
    )*};
}

/// A struct whose unknown fields are kept as the very JSON text that came, so that sending it back is
/// equal as JSON: `flatten` would round big and decimal numbers. A known field that came as `null` or as an
/// empty list is remembered too, and written again unless it has been set since.
macro_rules! open_object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$field_meta:meta])* $key:literal => $field:ident: $type:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
            /// Fields this version of the crate does not know, as they came; sent back unchanged.
            pub extra: crate::model::types::RawFields,
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut object = serializer.serialize_map(None)?;
                $(if crate::model::types::Slot::blank(&self.$field).is_none() {
                    object.serialize_entry($key, &self.$field)?;
                })*
                for (name, value) in self.extra.iter() {
                    let set = match name {
                        $($key => crate::model::types::Slot::blank(&self.$field).is_none(),)*
                        _ => false,
                    };
                    if !set {
                        object.serialize_entry(name, value)?;
                    }
                }
                object.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("an object for ", stringify!($name)))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut extra = crate::model::types::RawFields::default();
                        $(let mut $field: Option<$type> = None;)*
                        while let Some(key) = map.next_key::<crate::model::json::Text<'de>>()? {
                            match key.as_ref() {
                                $($key => {
                                    let value = map.next_value::<Option<$type>>()?;
                                    let blank = match &value {
                                        Some(value) => crate::model::types::Slot::blank(value),
                                        None => Some("null"),
                                    };
                                    if let Some(blank) = blank {
                                        extra.insert($key, crate::model::types::RawJson::from_static(blank));
                                    }
                                    $field = value;
                                })*
                                unknown => extra.insert(unknown, map.next_value::<crate::model::types::RawJson>()?),
                            }
                        }
                        Ok($name {
                            $($field: match $field {
                                Some(value) => value,
                                None => crate::model::types::Slot::missing($key)?,
                            },)*
                            extra,
                        })
                    }
                }

                deserializer.deserialize_map(Visitor)
            }
        }
    };
}
