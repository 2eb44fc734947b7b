"""What every room may use, without anything of the product: settings, database, REST, pages."""
