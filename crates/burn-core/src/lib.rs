//! Modules, parameters, configurations, records and data loading.
