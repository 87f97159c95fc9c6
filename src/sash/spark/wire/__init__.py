"""What travels between the driver and the workers: schemas, recipes, packed rows and buckets."""
