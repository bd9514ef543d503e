from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sharing", "0015_own_rotation"),
    ]

    operations = [
        migrations.AddField(
            model_name="recipient",
            name="mail_sign_in_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="browsersession",
            name="opened_by",
            field=models.CharField(
                choices=[
                    ("TOKEN", "token"),
                    ("LINK", "activation link"),
                    ("MAIL", "e-mail"),
                ],
                max_length=8,
            ),
        ),
    ]
